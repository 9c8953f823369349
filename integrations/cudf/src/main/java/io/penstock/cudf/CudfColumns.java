// SPDX-License-Identifier: Apache-2.0
package io.penstock.cudf;

import ai.rapids.cudf.ColumnView;
import ai.rapids.cudf.DType;
import ai.rapids.cudf.DeviceMemoryBufferView;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.ElementType;
import java.nio.ByteOrder;
import java.util.Map;

/** Arrays that Penstock has loaded, as cudf's columns, without a copy. */
public final class CudfColumns {

    private static final Map<ElementType, DType> TYPES = Map.ofEntries(
            Map.entry(ElementType.BOOL, DType.BOOL8),
            Map.entry(ElementType.I8, DType.INT8),
            Map.entry(ElementType.I16, DType.INT16),
            Map.entry(ElementType.I32, DType.INT32),
            Map.entry(ElementType.I64, DType.INT64),
            Map.entry(ElementType.U8, DType.UINT8),
            Map.entry(ElementType.U16, DType.UINT16),
            Map.entry(ElementType.U32, DType.UINT32),
            Map.entry(ElementType.U64, DType.UINT64),
            Map.entry(ElementType.F32, DType.FLOAT32),
            Map.entry(ElementType.F64, DType.FLOAT64));

    private CudfColumns() {}

    /**
     * Returns a view of an array of one dimension, without nulls.
     *
     * <p><b>Ownership:</b> the view borrows the memory: close it, and every column made of it by reference, before the
     * array's buffer. Nothing detects a buffer that is closed first.
     *
     * @param array in memory of the GPU that cudf uses, by a backend such as {@code cufile}
     * @throws IllegalArgumentException if cudf has no such type, or the array has not one dimension, is not
     *     little-endian, or has 2 GiB or more, which {@code ColumnView.fromDeviceBuffer} counts in an int (26.08.1)
     * @throws IllegalStateException if the memory is the host's
     */
    public static ColumnView of(DeviceArray array) {
        DType type = TYPES.get(array.type());
        if (type == null) {
            throw new IllegalArgumentException("type must be one of "
                    + TYPES.keySet().stream().map(ElementType::name).sorted().toList() + ", was " + array);
        }
        if (array.byteOrder() != ByteOrder.LITTLE_ENDIAN && array.type().blockBytes() > 1) {
            throw new IllegalArgumentException(
                    "byte order must be LITTLE_ENDIAN, was " + array.byteOrder() + " in " + array);
        }
        if (array.shape().size() != 1) {
            throw new IllegalArgumentException("a column has one dimension, was " + array);
        }
        if (array.bytes() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a column must have less than 2 GiB, had " + array.bytes() + " bytes in " + array);
        }
        if (array.region().buffer().hostView().isPresent()) {
            throw new IllegalStateException(
                    "buffer must be in memory of a GPU, was " + array.region().buffer());
        }
        long address = array.region().buffer().nativeHandle() + array.region().offset();
        return ColumnView.fromDeviceBuffer(
                new DeviceMemoryBufferView(address, array.bytes()),
                0,
                type,
                Math.toIntExact(array.shape().get(0)));
    }
}
