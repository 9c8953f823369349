// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import ai.rapids.cudf.ColumnView;
import ai.rapids.cudf.DType;
import ai.rapids.cudf.DeviceMemoryBufferView;
import io.penstock.formats.DeviceArray;

/** Loaded arrays as cudf's columns. */
final class CudfColumns {

    private CudfColumns() {}

    /** Returns a view of an array of floats, of one dimension; close it before the array. */
    static ColumnView floats(DeviceArray array) {
        long address = array.region().buffer().nativeHandle() + array.region().offset();
        DeviceMemoryBufferView memory = new DeviceMemoryBufferView(address, array.bytes());
        return ColumnView.fromDeviceBuffer(memory, 0, DType.FLOAT32, Math.toIntExact(array.shape().get(0)));
    }
}
