// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.util.Objects;

/**
 * The type of an array's elements: a name, and how many bytes a block of elements takes. Plain types have blocks of one
 * element; types of less than a byte, and quantized types, have blocks of several, such as GGUF's {@code Q4_0} with 18
 * bytes for 32 elements.
 *
 * @param name the name, in capitals, such as {@code BF16}
 * @param blockElements the elements of a block, at least 1
 * @param blockBytes the bytes of a block, at least 1
 */
public record ElementType(String name, int blockElements, int blockBytes) {

    public static final ElementType BOOL = of("BOOL", 1);
    public static final ElementType I8 = of("I8", 1);
    public static final ElementType U8 = of("U8", 1);
    public static final ElementType I16 = of("I16", 2);
    public static final ElementType U16 = of("U16", 2);
    public static final ElementType I32 = of("I32", 4);
    public static final ElementType U32 = of("U32", 4);
    public static final ElementType I64 = of("I64", 8);
    public static final ElementType U64 = of("U64", 8);
    public static final ElementType F16 = of("F16", 2);
    public static final ElementType BF16 = of("BF16", 2);
    public static final ElementType F32 = of("F32", 4);
    public static final ElementType F64 = of("F64", 8);
    /** Two {@link #F32}: the real and the imaginary part. */
    public static final ElementType C64 = of("C64", 8);
    /** Two {@link #F64}: the real and the imaginary part. */
    public static final ElementType C128 = of("C128", 16);

    /** Checks the numbers. */
    public ElementType {
        Objects.requireNonNull(name, "name");
        if (blockElements < 1 || blockBytes < 1) {
            throw new IllegalArgumentException("a block of " + name + " must have at least 1 element and 1 byte, had "
                    + blockElements + " and " + blockBytes);
        }
    }

    /** Returns a type whose elements take {@code bytes} bytes each. */
    public static ElementType of(String name, int bytes) {
        return new ElementType(name, 1, bytes);
    }

    /**
     * Returns the bytes of that many elements.
     *
     * @throws ArithmeticException if they are more than a long can hold, or not whole blocks
     */
    public long bytes(long elements) {
        if (elements < 0 || blockElements != 1 && elements % blockElements != 0) {
            throw new ArithmeticException(
                    elements + " elements of " + name + " are not whole blocks of " + blockElements);
        }
        return Math.multiplyExact(blockElements == 1 ? elements : elements / blockElements, (long) blockBytes);
    }

    /** Returns the name. */
    @Override
    public String toString() {
        return name;
    }
}
