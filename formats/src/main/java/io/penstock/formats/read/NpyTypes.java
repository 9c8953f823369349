// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.ElementType;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.Map.Entry;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * NumPy's names of element types, such as {@code <f4}: a byte order, a kind, and a size in bytes. Zarr has them too.
 */
public final class NpyTypes {

    private static final Pattern DESCR = Pattern.compile(
            "[<>]([a-zA-Z])(\\d{1,9})?(\\[(?:\\d{1,9}|)(?:[YMWDhms]|[mun\u03bcpfa]s|generic)(?:/\\d{1,9})?])?");

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

    private static final Map<String, String> LETTERS = spellings(
            "?=b1;b=i1;B=u1;h=i2;H=u2;i=i4;I=u4;l q p=i8;" + "L Q P=u8;e=f2;f=f4;d=f8;g=f16;F=c8;D=c16;G=c32");

    private static final Map<String, String> WORDS =
            spellings("bool bool_=b1;int8 byte=i1;uint8 ubyte=u1;int16 short=i2;uint16 ushort=u2;int32 intc=i4;"
                    + "uint32 uintc=u4;int64 int int_ long longlong intp=i8;uint64 uint ulong ulonglong uintp=u8;"
                    + "float16 half=f2;float32 single=f4;float64 float float_ double=f8;longdouble float128=f16;"
                    + "complex64 csingle=c8;complex128 complex complex_ cdouble=c16;clongdouble complex256=c32");

    private NpyTypes() {}

    /** Returns the kind and the size of a type, or null if NumPy does not have it. */
    public static @Nullable String code(ElementType type) {
        return CODES.get(type);
    }

    /** Why arrays of Python objects are refused. */
    static final String PICKLED = "arrays of Python objects are pickled, which is not supported";

    /** Returns whether the elements are Python objects, also as Python 2 wrote them, with a size. */
    static boolean isPickled(String descr) {
        return descr.matches("[<>=|]?O\\d*|object_?");
    }

    /**
     * Returns the spelling of a type that NumPy writes: {@code numpy.dtype} takes others, with the sizes of 64-bit
     * Linux.
     */
    private static String canonical(String descr) {
        boolean marked = !descr.isEmpty() && "<>=|".indexOf(descr.charAt(0)) >= 0;
        String order = marked && descr.charAt(0) == '>' ? ">" : "<";
        String rest = marked ? descr.substring(1) : descr;
        // A name such as float32 has no mark of the byte order.
        String code = rest.length() == 1 ? LETTERS.get(rest) : marked ? null : WORDS.get(rest);
        return order + (code == null ? rest : code);
    }

    /**
     * Returns the type. Text and raw bytes of a fixed size have a type of their own, such as {@code S10}.
     *
     * @throws IllegalArgumentException if it is unknown, or has no fixed size
     */
    static ElementType type(String descr) {
        Matcher matcher = DESCR.matcher(canonical(descr));
        if (isPickled(descr) || !matcher.matches()) {
            throw new IllegalArgumentException(isPickled(descr) ? PICKLED : "unknown type '" + descr + "'");
        }
        String kind = matcher.group(1);
        String code = kind + (matcher.group(2) == null ? "" : matcher.group(2));
        ElementType type = TYPES.getOrDefault(code, LONG_DOUBLES.get(code));
        return type == null ? other(descr, kind, matcher) : type;
    }

    private static ElementType other(String descr, String kind, Matcher matcher) {
        int size = matcher.group(2) == null ? 0 : Integer.parseInt(matcher.group(2));
        boolean time = "mM".contains(kind) && size == Long.BYTES;
        if (size == 0 || size > Integer.MAX_VALUE / Integer.BYTES || !(time || "SUV".contains(kind))) {
            throw new IllegalArgumentException("unknown type '" + descr + "'");
        }
        if (time) {
            String unit = matcher.group(3) == null ? "" : matcher.group(3);
            return ElementType.of((kind.equals("m") ? "TIMEDELTA64" : "DATETIME64") + unit, Long.BYTES);
        }
        return ElementType.of(kind + size, kind.equals("U") ? size * Integer.BYTES : size);
    }

    /** Returns whether the elements are texts of no bytes, {@code <U0}. */
    static boolean isEmpty(String descr) {
        return canonical(descr).matches("<[SUV]0?");
    }

    /** Returns the byte order; little-endian where a type has none: single bytes, and texts and raw data in bytes. */
    static ByteOrder byteOrder(String descr) {
        if (!descr.startsWith(">")) {
            return ByteOrder.LITTLE_ENDIAN;
        }
        ElementType type = type(descr);
        boolean none = type.blockBytes() == 1 || type.name().matches("[SV]\\d+");
        return none ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
    }

    private static Map<String, String> spellings(String pairs) {
        Map<String, String> all = new HashMap<>();
        for (String pair : pairs.split(";")) {
            String[] sides = pair.split("=");
            for (String name : sides[0].split(" ")) {
                all.put(name, sides[1]);
            }
        }
        return all;
    }
}
