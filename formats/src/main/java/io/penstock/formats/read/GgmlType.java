// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.ElementType;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The element types of ggml, by their number in a GGUF file; types that ggml has removed are missing. */
public record GgmlType(int number, ElementType type) {

    /** The month of the ggml.h that the table has all types of. */
    static final String AS_OF = "2026-08";

    private static final int BLOCK = 32;
    private static final int SUPER_BLOCK = 256;

    private static final Map<Integer, ElementType> KNOWN = List.of(
                    new GgmlType(0, ElementType.F32),
                    new GgmlType(1, ElementType.F16),
                    quantized(2, "Q4_0", BLOCK, 18),
                    quantized(3, "Q4_1", BLOCK, 20),
                    quantized(6, "Q5_0", BLOCK, 22),
                    quantized(7, "Q5_1", BLOCK, 24),
                    quantized(8, "Q8_0", BLOCK, 34),
                    quantized(9, "Q8_1", BLOCK, 36),
                    quantized(10, "Q2_K", SUPER_BLOCK, 84),
                    quantized(11, "Q3_K", SUPER_BLOCK, 110),
                    quantized(12, "Q4_K", SUPER_BLOCK, 144),
                    quantized(13, "Q5_K", SUPER_BLOCK, 176),
                    quantized(14, "Q6_K", SUPER_BLOCK, 210),
                    quantized(15, "Q8_K", SUPER_BLOCK, 292),
                    quantized(16, "IQ2_XXS", SUPER_BLOCK, 66),
                    quantized(17, "IQ2_XS", SUPER_BLOCK, 74),
                    quantized(18, "IQ3_XXS", SUPER_BLOCK, 98),
                    quantized(19, "IQ1_S", SUPER_BLOCK, 50),
                    quantized(20, "IQ4_NL", BLOCK, 18),
                    quantized(21, "IQ3_S", SUPER_BLOCK, 110),
                    quantized(22, "IQ2_S", SUPER_BLOCK, 82),
                    quantized(23, "IQ4_XS", SUPER_BLOCK, 136),
                    new GgmlType(24, ElementType.I8),
                    new GgmlType(25, ElementType.I16),
                    new GgmlType(26, ElementType.I32),
                    new GgmlType(27, ElementType.I64),
                    new GgmlType(28, ElementType.F64),
                    quantized(29, "IQ1_M", SUPER_BLOCK, 56),
                    new GgmlType(30, ElementType.BF16),
                    quantized(34, "TQ1_0", SUPER_BLOCK, 54),
                    quantized(35, "TQ2_0", SUPER_BLOCK, 66),
                    quantized(39, "MXFP4", BLOCK, 17),
                    quantized(40, "NVFP4", 64, 36),
                    quantized(41, "Q1_0", 128, 18),
                    quantized(42, "Q2_0", 64, 18))
            .stream()
            .collect(Collectors.toMap(GgmlType::number, GgmlType::type));

    /** What ggml had once, and refuses now. */
    private static final Map<Integer, String> REMOVED = Map.ofEntries(
            Map.entry(4, "Q4_2"),
            Map.entry(5, "Q4_3"),
            Map.entry(31, "Q4_0_4_4"),
            Map.entry(32, "Q4_0_4_8"),
            Map.entry(33, "Q4_0_8_8"),
            Map.entry(36, "IQ4_NL_4_4"),
            Map.entry(37, "IQ4_NL_4_8"),
            Map.entry(38, "IQ4_NL_8_8"));

    private static final String UNKNOWN = "GGML_";

    private static GgmlType quantized(int number, String name, int blockElements, int blockBytes) {
        return new GgmlType(number, new ElementType(name, blockElements, blockBytes));
    }

    /** Returns the type of that number, or null if it is unknown. */
    static @Nullable ElementType of(long number) {
        return number > Integer.MAX_VALUE ? null : KNOWN.get((int) number);
    }

    /** Returns what stands for a type whose blocks have an unknown size: its bytes. */
    public static ElementType unknown(long number) {
        return ElementType.of(UNKNOWN + number, 1);
    }

    /** Returns whether the type stands for bytes alone: where a row ends in them is not known. */
    public static boolean isUnknown(ElementType type) {
        return type.name().startsWith(UNKNOWN);
    }

    /** Returns what is known of a type that is not in the table. */
    public static String story(long number) {
        String removed = number > Integer.MAX_VALUE ? null : REMOVED.get((int) number);
        return removed == null
                ? "not a type of ggml as of " + AS_OF + ", perhaps a newer one"
                : removed + ", which ggml has removed";
    }
}
