// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteOrder;
import java.util.Map;
import java.util.Map.Entry;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** NumPy's names of element types, such as {@code <f4}: a byte order, a kind, and a size in bytes. Zarr has them too. */
final class NpyTypes {

    private static final Pattern DESCR = Pattern.compile("([<>|])([a-zA-Z])(\\d{1,9})?(\\[\\w+])?");

    private static final Map<ElementType, String> CODES = Map.ofEntries(
            Map.entry(ElementType.BOOL, "b1"),
            Map.entry(ElementType.I8, "i1"),
            Map.entry(ElementType.U8, "u1"),
            Map.entry(ElementType.I16, "i2"),
            Map.entry(ElementType.U16, "u2"),
            Map.entry(ElementType.I32, "i4"),
            Map.entry(ElementType.U32, "u4"),
            Map.entry(ElementType.I64, "i8"),
            Map.entry(ElementType.U64, "u8"),
            Map.entry(ElementType.F16, "f2"),
            Map.entry(ElementType.F32, "f4"),
            Map.entry(ElementType.F64, "f8"),
            Map.entry(ElementType.C64, "c8"),
            Map.entry(ElementType.C128, "c16"));

    private static final Map<String, ElementType> TYPES =
            CODES.entrySet().stream().collect(Collectors.toMap(Entry::getValue, Entry::getKey));

    private static final Map<String, ElementType> LONG_DOUBLES = Map.of(
            "f12", ElementType.of("LONGDOUBLE", 12),
            "f16", ElementType.of("LONGDOUBLE", 16),
            "c24", ElementType.of("CLONGDOUBLE", 24),
            "c32", ElementType.of("CLONGDOUBLE", 32));

    private NpyTypes() {}

    /** Returns the kind and the size of a type, or null if NumPy does not have it. */
    static @Nullable String code(ElementType type) {
        return CODES.get(type);
    }

    /** Why arrays of Python objects are refused. */
    static final String PICKLED = "arrays of Python objects are pickled, which is not supported";

    /** Returns whether the elements are Python objects. */
    static boolean isPickled(String descr) {
        return descr.endsWith("O");
    }

    /**
     * Returns the type. Text and raw bytes of a fixed size have a type of their own, such as {@code S10}.
     *
     * @throws IllegalArgumentException if it is unknown, or has no fixed size
     */
    static ElementType type(String descr) {
        Matcher matcher = DESCR.matcher(descr);
        if (isPickled(descr) || !matcher.matches()) {
            throw new IllegalArgumentException(isPickled(descr) ? PICKLED : "unknown type '" + descr + "'");
        }
        String kind = matcher.group(2);
        String code = kind + (matcher.group(3) == null ? "" : matcher.group(3));
        ElementType type = TYPES.getOrDefault(code, LONG_DOUBLES.get(code));
        if (type == null) {
            type = other(descr, kind, matcher);
        }
        if (matcher.group(1).equals("|") && type.blockBytes() > 1 && !"SV".contains(kind)) {
            throw new IllegalArgumentException("type '" + descr + "' must have a byte order");
        }
        return type;
    }

    private static ElementType other(String descr, String kind, Matcher matcher) {
        int size = matcher.group(3) == null ? 0 : Integer.parseInt(matcher.group(3));
        boolean time = "mM".contains(kind) && size == Long.BYTES;
        if (size == 0 || size > Integer.MAX_VALUE / Integer.BYTES || !(time || "SUV".contains(kind))) {
            throw new IllegalArgumentException("unknown type '" + descr + "'");
        }
        if (time) {
            String unit = matcher.group(4) == null ? "" : matcher.group(4);
            return ElementType.of((kind.equals("m") ? "TIMEDELTA64" : "DATETIME64") + unit, Long.BYTES);
        }
        return ElementType.of(kind + size, kind.equals("U") ? size * Integer.BYTES : size);
    }

    /** Returns the byte order; little-endian where a type has none. */
    static ByteOrder byteOrder(String descr) {
        return descr.startsWith(">") && Conversion.hasByteOrder(type(descr))
                ? ByteOrder.BIG_ENDIAN
                : ByteOrder.LITTLE_ENDIAN;
    }
}
