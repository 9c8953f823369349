// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BufferRegion;
import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

class ArrayValuesTest {

    private static Backend backend;

    @BeforeAll
    static void open() {
        backend = Backends.open("host");
    }

    @AfterAll
    static void close() {
        backend.close();
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block());
    }

    private static DeviceArray array(String type, int elementBytes, ByteOrder order, byte[] bytes) {
        DeviceBuffer buffer = get(backend.allocate(Math.max(1, 16 + bytes.length)));
        get(buffer.upload(16, ByteBuffer.wrap(bytes)));
        return new DeviceArray(
                "x",
                ElementType.of(type, elementBytes),
                List.of((long) bytes.length / elementBytes),
                order,
                Array.Order.ROW_MAJOR,
                buffer.region(16, bytes.length));
    }

    /** Bits as NumPy 1.24 and ml_dtypes write the values, little-endian. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            BOOL | 00 02                   | 0, 1                      | false, true
            I8   | ff 7f                   | -1, 127                   | -1, 127
            U8   | ff 7f                   | 255, 127                  | 255, 127
            I16  | ffff 0080               | -1, -32768                | -1, -32768
            U16  | ffff 0080               | 65535, 32768              | 65535, 32768
            I32  | ffffffff 00000080       | -1, -2147483648           | -1, -2147483648
            U32  | ffffffff 00000080       | 4294967295, 2147483648    | 4294967295, 2147483648
            I64  | ffffffffffffffff 010000000000e00f | -1, 1143914305352105985 | -1, 1143914305352105985
            U64  | ffffffffffffffff 010000000000e00f | 18446744073709551615, 1143914305352105985 | 18446744073709551615, 1143914305352105985
            F16  | 003c 00bc ff7b 0100 0004 007c 0080 | 1, -1, 65504, 5.9604644775390625e-8, 6.103515625e-5, Infinity, -0.0 | 1.0, -1.0, 65504.0, 5.9604645E-8, 6.1035156E-5, Infinity, -0.0
            BF16 | 803f 80bf 7f7f 4940     | 1, -1, 3.3895313892515355e38, 3.140625 | 1.0, -1.0, 3.3895314E38, 3.140625
            F32  | 0000803f cdcccc3d       | 1, 0.10000000149011612    | 1.0, 0.1
            F64  | 000000000000f03f 9a9999999999b93f | 1, 0.1          | 1.0, 0.1
            """)
    void numbersHaveTheirValuesInEitherByteOrder(String type, String hex, String numbers, String text) {
        byte[] little = bytes(hex);
        int size = hex.strip().split(" ")[0].length() / 2;
        byte[] big = new byte[little.length];
        for (int i = 0; i < big.length; i++) {
            big[i] = little[i / size * size + size - 1 - i % size];
        }
        double[] expected = List.of(numbers.split(", ")).stream()
                .mapToDouble(Double::parseDouble)
                .toArray();
        for (DeviceArray array : List.of(
                array(type, size, ByteOrder.LITTLE_ENDIAN, little), array(type, size, ByteOrder.BIG_ENDIAN, big))) {
            ArrayValues values = get(array.download());
            assertThat(values.count()).isEqualTo(expected.length);
            assertThat(values.doubles()).containsExactly(expected);
            assertThat(get(array.doubles())).containsExactly(expected);
            for (int i = 0; i < expected.length; i++) {
                assertThat(values.value(i)).isEqualTo(expected[i]);
                assertThat(values.floats()[i]).isEqualTo((float) expected[i]);
            }
            assertThat(values).hasToString("x " + type + " [" + expected.length + "]: " + text);
        }
    }

    /** 2^63 + 1024 lies half way between two doubles, so that the last bit decides. */
    @Test
    void anUnsignedNumberIsRoundedByAllOfItsBits() {
        ArrayValues values = get(array("U64", 8, ByteOrder.BIG_ENDIAN, bytes("8000000000000400 8000000000000401"))
                .download());
        assertThat(values.doubles()).containsExactly(0x1p63, 0x1p63 + 2048);
    }

    private static byte[] bytes(String hex) {
        String digits = hex.replace(" ", "");
        byte[] bytes = new byte[digits.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(digits, 2 * i, 2 * i + 2, 16);
        }
        return bytes;
    }

    /** Against all bits: a float of 16 bits becomes a float and the same 16 bits again. */
    @Test
    void everySmallFloatIsWidenedExactly() {
        for (int bits = 0; bits <= 0xffff; bits++) {
            float half = io.penstock.formats.codec.SmallFloats.ofHalf((short) bits);
            float brain = io.penstock.formats.codec.SmallFloats.ofBrain((short) bits);
            if ((bits & 0x7fff) > 0x7c00) {
                assertThat(half).isNaN();
            } else {
                assertThat(io.penstock.formats.codec.SmallFloats.half(half)).isEqualTo((short) bits);
            }
            if ((bits & 0x7fff) > 0x7f80) {
                assertThat(brain).isNaN();
            } else {
                assertThat(io.penstock.formats.codec.SmallFloats.brain(brain)).isEqualTo((short) bits);
            }
        }
    }

    @Test
    void onlyTheFirstValuesAreShown() {
        byte[] many = new byte[100];
        many[0] = -3;
        many[99] = 103;
        ArrayValues values = get(array("I8", 1, ByteOrder.LITTLE_ENDIAN, many).download());
        assertThat(values).hasToString("x I8 [100]: -3, 0, 0, 0, 0, 0, 0, 0, ...");
        assertThat(values.statistics().getMin()).isEqualTo(-3);
        assertThat(values.statistics().getMax()).isEqualTo(103);
        assertThat(values.statistics().getAverage()).isCloseTo(1, within(1e-9));
        assertThatThrownBy(() -> values.value(100)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    /** Of an array that no host has memory for, 32 bytes are copied, and only for a subscriber. */
    @Test
    void aPreviewCopiesTheFirstValuesOfAnArrayOfAnySize() {
        List<Integer> copied = new ArrayList<>();
        DeviceBuffer huge = (DeviceBuffer) Proxy.newProxyInstance(
                DeviceBuffer.class.getClassLoader(), new Class<?>[] {DeviceBuffer.class}, (self, method, arguments) -> {
                    if (method.getName().equals("length")) {
                        return 1L << 42;
                    }
                    assertThat(method.getName()).isEqualTo("download");
                    assertThat(arguments[0]).isEqualTo(64L);
                    ByteBuffer target = (ByteBuffer) arguments[1];
                    copied.add(target.remaining());
                    target.order(ByteOrder.LITTLE_ENDIAN).putFloat(0, 0.5f).putFloat(28, -1);
                    return Mono.just((long) target.remaining());
                });
        DeviceArray array = DeviceArray.of(
                "huge", ElementType.F32, List.of(1L << 20, 1L << 19), new BufferRegion(huge, 64, 1L << 41));
        Mono<String> preview = array.preview();
        assertThat(copied).isEmpty();
        assertThat(get(preview)).isEqualTo("huge F32 [1048576, 524288]: 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, ...");
        assertThat(copied).containsExactly(32);
        assertThat(array).hasToString("huge F32 [1048576, 524288]");
        assertThatThrownBy(() -> array.download().block())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("array huge F32 [1048576, 524288] has 2199023255552 bytes; at most 2147483647 can be"
                        + " downloaded at once");
        assertThat(copied).as("nothing for what is refused").hasSize(1);
    }

    @Test
    void aPreviewOfFewOrNoNumbersIsTheTextOfTheValues() {
        assertThat(get(array("I16", 2, ByteOrder.BIG_ENDIAN, bytes("0001 fffe")).preview()))
                .isEqualTo("x I16 [2]: 1, -2");
        DeviceBuffer buffer = get(backend.allocate(36));
        assertThat(get(DeviceArray.of("q", new ElementType("Q4_0", 32, 18), List.of(64L), buffer.all())
                        .preview()))
                .isEqualTo("q Q4_0 [64]: 36 bytes");
    }

    @Test
    void quantizedElementsAreBytes() {
        DeviceBuffer buffer = get(backend.allocate(18));
        get(buffer.upload(0, ByteBuffer.wrap(new byte[18]).put(3, (byte) 7)));
        ArrayValues values = get(DeviceArray.of("q", new ElementType("Q4_0", 32, 18), List.of(32L), buffer.all())
                .download());
        assertThat(values.areNumbers()).isFalse();
        assertThat(values.bytes().get(3)).isEqualTo((byte) 7);
        assertThat(values.bytes().isReadOnly()).isTrue();
        assertThat(values).hasToString("q Q4_0 [32]: 18 bytes");
        assertThatThrownBy(values::floats)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("elements of type Q4_0 are not numbers of Java: array q has bytes only");
    }

    @Test
    void anArrayWithoutElementsHasNoValues() {
        ArrayValues values =
                get(array("F32", 4, ByteOrder.LITTLE_ENDIAN, new byte[0]).download());
        assertThat(values.floats()).isEmpty();
        assertThat(values).hasToString("x F32 [0]: ");
    }

    @Test
    void memoryThatIsClosedIsAnError() {
        DeviceArray array = array("F32", 4, ByteOrder.LITTLE_ENDIAN, new byte[4]);
        array.region().buffer().close();
        assertThatThrownBy(() -> array.floats().block()).isInstanceOf(ClosedException.class);
    }
}
