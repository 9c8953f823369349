// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.ElementType;
import io.penstock.formats.codec.SmallFloats;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Zarr's element types and fill values. */
final class ZarrTypes {

    private static final Map<String, ElementType> V3 = Map.ofEntries(
            Map.entry("bool", ElementType.BOOL),
            Map.entry("int8", ElementType.I8),
            Map.entry("uint8", ElementType.U8),
            Map.entry("int16", ElementType.I16),
            Map.entry("uint16", ElementType.U16),
            Map.entry("int32", ElementType.I32),
            Map.entry("uint32", ElementType.U32),
            Map.entry("int64", ElementType.I64),
            Map.entry("uint64", ElementType.U64),
            Map.entry("float16", ElementType.F16),
            Map.entry("bfloat16", ElementType.BF16),
            Map.entry("float32", ElementType.F32),
            Map.entry("float64", ElementType.F64),
            Map.entry("complex64", ElementType.C64),
            Map.entry("complex128", ElementType.C128),
            Map.entry("float8_e4m3", ElementType.of("F8_E4M3", 1)),
            Map.entry("float8_e4m3fn", ElementType.of("F8_E4M3", 1)),
            Map.entry("float8_e5m2", ElementType.of("F8_E5M2", 1)),
            Map.entry("float8_e8m0fnu", ElementType.of("F8_E8M0", 1)));

    private static final Set<String> ANY_LENGTH = Set.of("string", "bytes", "variable_length_bytes");
    private static final Pattern RAW_BITS = Pattern.compile("r(8|16|24|32|64|128|256)"); // of bits
    private static final Pattern WHOLE = Pattern.compile("-?\\d{1,20}");
    private static final Pattern NUMBER = Pattern.compile("-?\\d{1,30}(\\.\\d{0,30})?([eE][-+]?\\d{1,3})?");
    private static final int MOST_NUMBER_BYTES = 16;
    private static final int MOST_TEXT_BYTES = 4096; // of a fill value

    private ZarrTypes() {}

    static ElementType v3(ZarrNode node) throws ZarrNode.Unsupported {
        Object name = node.member("data_type");
        boolean plain = name instanceof String
                || name instanceof Map && node.configuration(name, "data_type").isEmpty();
        String text = node.extension(name, "data_type");
        ElementType type = plain ? V3.get(text) : sized(text, node.configuration(name, "data_type"));
        if (plain && RAW_BITS.matcher(text).matches()) {
            type = NpyTypes.type("|V" + Integer.parseInt(text.substring(1)) / Byte.SIZE);
        }
        if (type == null && ANY_LENGTH.contains(text)) {
            throw anyLength(node, text);
        }
        if (type == null) {
            throw node.unsupported("data_type " + name + " is not supported");
        }
        return type;
    }

    private static ZarrNode.Unsupported anyLength(ZarrNode node, String name) {
        return node.unsupported("elements of any length (" + name + ") are not supported, in the shape "
                + node.members().get("shape"));
    }

    /** Returns a type of NumPy that has a name of its own in version 3, or null. */
    private static @Nullable ElementType sized(String name, Map<String, Object> configuration) {
        String descr;
        if (configuration.get("length_bytes") instanceof Long length && configuration.size() == 1) {
            descr = switch (name) {
                case "fixed_length_utf32" -> length % Integer.BYTES == 0 ? "<U" + length / Integer.BYTES : "";
                case "null_terminated_bytes" -> "|S" + length;
                case "raw_bytes" -> "|V" + length;
                default -> "";
            };
        } else {
            Object scale = configuration.getOrDefault("scale_factor", 1L);
            String unit = "[" + (scale.equals(1L) ? "" : scale) + configuration.get("unit") + "]";
            descr = switch (name) {
                case "numpy.datetime64" -> "<M8" + unit;
                case "numpy.timedelta64" -> "<m8" + unit;
                default -> "";
            };
        }
        try {
            return descr.isEmpty() || NpyTypes.isEmpty(descr) ? null : NpyTypes.type(descr);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    static ElementType v2(ZarrNode node) throws ZarrNode.Unsupported {
        Object name = node.member("dtype");
        try {
            if (name instanceof String text) {
                Object filters = node.members().get("filters");
                if (NpyTypes.isPickled(text)
                        && filters instanceof List<?> list
                        && !list.isEmpty()
                        && list.get(0) instanceof Map<?, ?> filter) {
                    throw anyLength(node, String.valueOf(filter.get("id")));
                }
                return NpyTypes.type(text);
            }
        } catch (IllegalArgumentException e) {
            throw node.unsupported("dtype: " + e.getMessage());
        }
        throw node.unsupported("dtype: arrays of structures are not supported");
    }

    /** Returns the bytes of the fill value, or none for 0 and where nothing states it. */
    static List<Byte> fill(ZarrNode node, ElementType type, ByteOrder order) throws ZarrNode.Unsupported {
        Object value = node.members().get("fill_value");
        if (value == null || value == StrictJson.NULL) {
            return List.of();
        }
        if (isText(type) && !"".equals(value) && !Long.valueOf(0).equals(value)) {
            return text(node, type, value, order);
        }
        // Text may claim any length.
        ByteBuffer bytes = ByteBuffer.allocate(Math.min(type.blockBytes(), MOST_NUMBER_BYTES))
                .order(order);
        List<Object> parts = value instanceof List<?> list ? new ArrayList<>(list) : List.of(value);
        if (parts.size() > (isComplex(type) ? 2 : 1)) {
            throw node.malformed("fill_value of " + type + " must be one number, was " + value);
        }
        for (Object part : parts) {
            put(node, type, part, bytes);
        }
        List<Byte> fill = new ArrayList<>();
        boolean zero = true;
        for (byte b : bytes.array()) {
            fill.add(b);
            zero &= b == 0;
        }
        return zero ? List.of() : fill;
    }

    private static ZarrNode.Unsupported unsupported(ZarrNode node, ElementType type, Object value) {
        return node.unsupported("fill_value " + (value instanceof String ? "\"" + value + "\"" : value) + " of " + type
                + " is not supported");
    }

    /** Also raw bytes. */
    private static boolean isText(ElementType type) {
        return type.name().matches("[SUV]\\d+")
                && !type.equals(V3.get("uint" + type.name().substring(1)));
    }

    /** Bytes are in base64, and text is itself, as zarr-python writes version 2. */
    private static List<Byte> text(ZarrNode node, ElementType type, Object value, ByteOrder order)
            throws ZarrNode.Unsupported {
        ByteBuffer bytes = ByteBuffer.allocate(Math.min(type.blockBytes(), MOST_TEXT_BYTES))
                .order(order);
        try {
            if (!(value instanceof String text) || type.blockBytes() > MOST_TEXT_BYTES) {
                throw new IllegalArgumentException("no text, or a long one");
            }
            if (type.name().startsWith("U")) {
                text.codePoints().forEach(bytes::putInt);
            } else {
                // What cannot be base64 is the text itself, as older writers had it.
                boolean plain = type.name().startsWith("S") && text.length() % 4 != 0 && text.matches("[\\w+/]*");
                bytes.put(plain ? text.getBytes(StandardCharsets.US_ASCII) : base64(text));
            }
        } catch (IllegalArgumentException | BufferOverflowException e) {
            throw unsupported(node, type, value);
        }
        List<Byte> fill = new ArrayList<>();
        for (byte b : bytes.array()) {
            fill.add(b);
        }
        return fill;
    }

    /** The JDK's decoder does not insist on the padding. */
    private static byte[] base64(String text) {
        if (text.length() % 4 != 0) {
            throw new IllegalArgumentException("no base64");
        }
        return Base64.getDecoder().decode(text);
    }

    private static boolean isTime(ElementType type) {
        return type.name().startsWith("DATETIME64") || type.name().startsWith("TIMEDELTA64");
    }

    private static boolean isComplex(ElementType type) {
        return type.equals(ElementType.C64) || type.equals(ElementType.C128);
    }

    private static void put(ZarrNode node, ElementType type, Object value, ByteBuffer bytes)
            throws ZarrNode.Unsupported {
        String text = String.valueOf(value);
        if (text.startsWith("0x") && node.version() == 3) {
            bits(node, type, text, bytes);
            return;
        }
        if (type.name().matches("BOOL|[IU](8|16|32|64)") || isTime(type)) {
            whole(node, type, value, bytes);
            return;
        }
        Double number = number(node, value);
        if (number == null) {
            throw unsupported(node, type, value);
        }
        switch (type.name()) {
            case "F16" -> bytes.putShort(SmallFloats.half(number.floatValue()));
            case "BF16" -> bytes.putShort(SmallFloats.brain(number.floatValue()));
            case "F32", "C64" -> bytes.putFloat(number.floatValue());
            case "F64", "C128" -> bytes.putDouble(number);
            default -> {
                if (number != 0) {
                    throw unsupported(node, type, value);
                }
            }
        }
    }

    /** Puts a whole number, of which the type must have all bits. A fraction is dropped in version 2, as by NumPy. */
    private static void whole(ZarrNode node, ElementType type, Object value, ByteBuffer bytes)
            throws ZarrNode.Unsupported {
        int bits = type.equals(ElementType.BOOL) ? 1 : Byte.SIZE * type.blockBytes();
        boolean signed = type.name().startsWith("I") || isTime(type);
        BigInteger end = BigInteger.ONE.shiftLeft(signed ? bits - 1 : bits);
        BigInteger whole = isTime(type) && "NaT".equals(value) ? end.negate() : whole(node, value);
        if (whole == null
                || whole.compareTo(end) >= 0
                || whole.compareTo(signed ? end.negate() : BigInteger.ZERO) < 0) {
            throw unsupported(node, type, value);
        }
        long number = whole.longValue();
        switch (type.blockBytes()) {
            case 1 -> bytes.put((byte) number);
            case Short.BYTES -> bytes.putShort((short) number);
            case Integer.BYTES -> bytes.putInt((int) number);
            default -> bytes.putLong(number);
        }
    }

    private static @Nullable BigInteger whole(ZarrNode node, Object value) {
        if (value instanceof BigInteger whole) {
            return whole;
        }
        if (value instanceof Long whole) {
            return BigInteger.valueOf(whole);
        }
        if (node.version() == 2
                && value instanceof String text
                && WHOLE.matcher(text).matches()) {
            return new BigInteger(text);
        }
        Double number = number(node, value);
        boolean fraction = node.version() == 3 && number != null && number != Math.rint(number);
        return number == null || !Double.isFinite(number) || fraction ? null : new BigDecimal(number).toBigInteger();
    }

    private static @Nullable Double number(ZarrNode node, Object value) {
        if (value instanceof Number number) {
            return number.doubleValue();
        }
        if (value instanceof Boolean flag) {
            return flag ? 1.0 : 0.0;
        }
        return switch (String.valueOf(value)) {
            case "NaN" -> Double.NaN;
            case "Infinity" -> Double.POSITIVE_INFINITY;
            case "-Infinity" -> Double.NEGATIVE_INFINITY;
            case "" -> 0.0; // of text
            default ->
                node.version() == 2 && NUMBER.matcher(String.valueOf(value)).matches()
                        ? Double.valueOf(String.valueOf(value)) // as NumPy takes it
                        : null;
        };
    }

    /** The bits of a number, most significant first, as in {@code 0x7fc00000}. */
    private static void bits(ZarrNode node, ElementType type, String text, ByteBuffer bytes) {
        int size = isComplex(type) ? type.blockBytes() / 2 : type.blockBytes(); // of each part
        if (!text.matches("0x[0-9a-fA-F]{2,16}") || text.length() != 2 + 2 * size) {
            throw node.malformed("fill_value " + text + " must have " + 2 * size + " digits of 16");
        }
        long bits = Long.parseUnsignedLong(text.substring(2), 16);
        for (int i = 0; i < size; i++) {
            int shift = Byte.SIZE * (bytes.order() == ByteOrder.LITTLE_ENDIAN ? i : size - 1 - i);
            bytes.put((byte) (bits >>> shift));
        }
    }
}
