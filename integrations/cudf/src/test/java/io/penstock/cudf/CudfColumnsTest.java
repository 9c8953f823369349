// SPDX-License-Identifier: Apache-2.0
package io.penstock.cudf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.rapids.cudf.ColumnView;
import ai.rapids.cudf.DType;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.formats.Array;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.ElementType;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** cudf's own {@link ColumnView} over arrays. */
class CudfColumnsTest {

    private static final long ADDRESS = 0x7f00_0000_0000L;

    @BeforeEach
    void load() {
        FakeCudf.load();
    }

    /** Returns an array at an offset of 256 in memory of a GPU, of which nothing but its address is used. */
    private static DeviceArray array(ElementType type, ByteOrder order, long bytes, Long... shape) {
        DeviceBuffer buffer = (DeviceBuffer) Proxy.newProxyInstance(
                CudfColumnsTest.class.getClassLoader(),
                new Class<?>[] {DeviceBuffer.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "nativeHandle" -> ADDRESS;
                    case "hostView" -> Optional.empty();
                    case "length" -> 256 + bytes;
                    case "toString" -> "memory of a GPU";
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        return new DeviceArray(
                "a", type, List.of(shape), order, Array.Order.ROW_MAJOR, new BufferRegion(buffer, 256, bytes));
    }

    private static long address(ColumnView view) throws ReflectiveOperationException {
        Method method = ColumnView.class.getDeclaredMethod("getNativeDataAddress", long.class);
        method.setAccessible(true);
        return (long) method.invoke(null, view.getNativeView());
    }

    @ParameterizedTest
    @CsvSource({
        "BOOL,BOOL8,1",
        "I8,INT8,1",
        "I16,INT16,2",
        "I32,INT32,4",
        "I64,INT64,8",
        "U8,UINT8,1",
        "U16,UINT16,2",
        "U32,UINT32,4",
        "U64,UINT64,8",
        "F32,FLOAT32,4",
        "F64,FLOAT64,8"
    })
    void anArrayIsAColumnOfItsType(String name, String type, int bytes) throws ReflectiveOperationException {
        try (ColumnView view =
                CudfColumns.of(array(ElementType.of(name, bytes), ByteOrder.LITTLE_ENDIAN, 1000L * bytes, 1000L))) {
            assertThat(view.getType()).isEqualTo(DType.create(DType.DTypeEnum.valueOf(type)));
            assertThat(view.getType().getSizeInBytes()).isEqualTo(bytes);
            assertThat(view.getRowCount()).isEqualTo(1000);
            assertThat(view.getNullCount()).isZero();
            assertThat(address(view)).isEqualTo(ADDRESS + 256);
            assertThat(FakeCudf.views()).isEqualTo(1);
        }
        assertThat(FakeCudf.views()).isZero();
    }

    @Test
    void whatIsNoColumnIsRefusedWithWhatMustBeAndWhatWas() {
        assertThatThrownBy(() -> CudfColumns.of(array(ElementType.BF16, ByteOrder.LITTLE_ENDIAN, 8, 4L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("type must be one of [BOOL, F32, F64, ")
                .hasMessageContaining("BF16");
        assertThatThrownBy(() -> CudfColumns.of(array(ElementType.F32, ByteOrder.BIG_ENDIAN, 16, 4L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("byte order must be LITTLE_ENDIAN, was BIG_ENDIAN");
        assertThatThrownBy(() -> CudfColumns.of(array(ElementType.F32, ByteOrder.LITTLE_ENDIAN, 16, 2L, 2L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a column has one dimension");
        assertThatThrownBy(() -> CudfColumns.of(array(ElementType.I8, ByteOrder.LITTLE_ENDIAN, 1L << 31, 1L << 31)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("less than 2 GiB, had 2147483648 bytes");
        assertThat(FakeCudf.views()).isZero();
    }

    @Test
    void memoryOfTheHostIsRefused() {
        try (Backend backend = Backends.open("host");
                DeviceBuffer buffer = backend.allocate(16).block()) {
            DeviceArray array = new DeviceArray(
                    "a", ElementType.F32, List.of(4L), ByteOrder.LITTLE_ENDIAN, Array.Order.ROW_MAJOR, buffer.all());
            assertThatThrownBy(() -> CudfColumns.of(array))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("buffer must be in memory of a GPU, was ");
        }
    }
}
