// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static java.util.Map.entry;

import io.penstock.formats.codec.SmallFloats;
import java.nio.ByteBuffer;
import java.util.DoubleSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The elements of an array, copied into memory of the host by {@link DeviceArray#download()}. They are numbered as they
 * lie in memory: {@link DeviceArray#order()} tells which dimension varies fastest.
 *
 * <p>Numbers and booleans have values; elements of all other types, quantized ones among them, are bytes.
 *
 * <p><b>Threading:</b> immutable.
 */
public final class ArrayValues {

    /** How many values a text has, at most. */
    static final int SHOWN = 8;

    private interface Reading {
        double number(ByteBuffer bytes, int offset);
    }

    private static final Map<ElementType, Reading> READINGS = Map.ofEntries(
            entry(ElementType.BOOL, (bytes, offset) -> bytes.get(offset) == 0 ? 0 : 1),
            entry(ElementType.I8, ByteBuffer::get),
            entry(ElementType.U8, (bytes, offset) -> Byte.toUnsignedInt(bytes.get(offset))),
            entry(ElementType.I16, ByteBuffer::getShort),
            entry(ElementType.U16, (bytes, offset) -> Short.toUnsignedInt(bytes.getShort(offset))),
            entry(ElementType.I32, ByteBuffer::getInt),
            entry(ElementType.U32, (bytes, offset) -> Integer.toUnsignedLong(bytes.getInt(offset))),
            entry(ElementType.I64, ByteBuffer::getLong),
            entry(ElementType.U64, (bytes, offset) -> unsigned(bytes.getLong(offset))),
            entry(ElementType.F16, (bytes, offset) -> SmallFloats.ofHalf(bytes.getShort(offset))),
            entry(ElementType.BF16, (bytes, offset) -> SmallFloats.ofBrain(bytes.getShort(offset))),
            entry(ElementType.F32, ByteBuffer::getFloat),
            entry(ElementType.F64, ByteBuffer::getDouble));

    private final DeviceArray array;
    private final ByteBuffer bytes;
    private final @Nullable Reading reading;

    /** Takes the bytes over. */
    ArrayValues(DeviceArray array, ByteBuffer bytes) {
        this.array = array;
        this.bytes = bytes.order(array.byteOrder());
        this.reading = READINGS.get(array.type());
    }

    /** Returns all bytes, read-only, in the byte order of the elements. */
    public ByteBuffer bytes() {
        return bytes.asReadOnlyBuffer().order(bytes.order());
    }

    /** Returns the number of elements. */
    public int count() {
        return Math.toIntExact(elements());
    }

    private long elements() {
        return array.bytes() / array.type().blockBytes() * array.type().blockElements();
    }

    /** Returns whether the elements are numbers or booleans, so that they have values. */
    public boolean areNumbers() {
        return reading != null;
    }

    /**
     * Returns one element, a boolean as 0 or 1. Integers of 64 bits beyond 2^53 are rounded; {@link #bytes()} has all of
     * their bits.
     *
     * @throws UnsupportedOperationException if elements of the type are not numbers
     * @throws IndexOutOfBoundsException if the index is negative, or not less than {@link #count()}
     */
    public double value(int index) {
        Objects.checkIndex(index, count());
        return reading().number(bytes, index * array.type().blockBytes());
    }

    private Reading reading() {
        if (reading == null) {
            throw new UnsupportedOperationException("elements of type " + array.type()
                    + " are not numbers of Java: array " + array.name() + " has bytes only");
        }
        return reading;
    }

    /**
     * Returns all elements, as {@link #value} does, rounded to float. {@code F16} and {@code BF16} are widened.
     *
     * @throws UnsupportedOperationException if elements of the type are not numbers
     */
    public float[] floats() {
        Reading each = reading();
        float[] values = new float[count()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) each.number(bytes, i * array.type().blockBytes());
        }
        return values;
    }

    /**
     * Returns all elements, as {@link #value} does.
     *
     * @throws UnsupportedOperationException if elements of the type are not numbers
     */
    public double[] doubles() {
        Reading each = reading();
        double[] values = new double[count()];
        for (int i = 0; i < values.length; i++) {
            values[i] = each.number(bytes, i * array.type().blockBytes());
        }
        return values;
    }

    /**
     * Returns the least and the greatest element, and the mean. All of them are NaN if an element is.
     *
     * @throws UnsupportedOperationException if elements of the type are not numbers
     */
    public DoubleSummaryStatistics statistics() {
        Reading each = reading();
        return IntStream.range(0, count())
                .mapToDouble(i -> each.number(bytes, i * array.type().blockBytes()))
                .summaryStatistics();
    }

    /** Returns name, type, shape and the first values: {@code scale F32 [2, 3]: 0.5, -1.0, 0.0, 2.0, 1.5, 8.0}. */
    @Override
    public String toString() {
        if (reading == null) {
            return array + ": " + array.bytes() + " bytes";
        }
        String first = IntStream.range(0, (int) Math.min(SHOWN, elements()))
                .mapToObj(this::text)
                .collect(Collectors.joining(", "));
        return array + ": " + first + (elements() > SHOWN ? ", ..." : "");
    }

    private String text(int index) {
        double value = reading().number(bytes, index * array.type().blockBytes());
        return switch (array.type().name()) {
            case "BOOL" -> String.valueOf(value != 0);
            case "I64" -> Long.toString(bytes.getLong(index * Long.BYTES));
            case "U64" -> Long.toUnsignedString(bytes.getLong(index * Long.BYTES));
            case "F16", "BF16", "F32" -> Float.toString((float) value);
            case "F64" -> Double.toString(value);
            default -> Long.toString((long) value);
        };
    }

    /** Half of it with the lowest bit kept, which decides how a tie is rounded, then twice that. */
    private static double unsigned(long value) {
        return value >= 0 ? value : 2.0 * (value >>> 1 | value & 1);
    }
}
