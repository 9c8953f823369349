// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

/** Floating point numbers of 16 bits, rounded to nearest, ties to even. */
public final class SmallFloats {

    private static final int BF16_BITS = 16; // that are dropped
    private static final int QUIET = 0x40;

    private SmallFloats() {}

    /** Returns the bits of bfloat16: the upper half of a float's bits. A NaN stays one. */
    public static short brain(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (short) (bits >>> BF16_BITS | QUIET);
        }
        int odd = bits >>> BF16_BITS & 1;
        return (short) (bits + 0x7fff + odd >>> BF16_BITS);
    }

    /** Returns the bits of IEEE 754's binary16. */
    public static short half(float value) {
        int bits = Float.floatToRawIntBits(value);
        int sign = bits >>> 16 & 0x8000;
        float size = Math.abs(value);
        if (Float.isNaN(value)) {
            return (short) (sign | 0x7e00);
        }
        if (size >= 65520) { // rounds to more than the largest
            return (short) (sign | 0x7c00);
        }
        if (size < 0x1p-14f) { // multiples of 2^-24; rint rounds ties to even
            return (short) (sign | (int) Math.rint(size * 0x1p24));
        }
        int rounded = (bits & 0x7fffffff) + 0xfff + (bits >>> 13 & 1);
        return (short) (sign | (rounded >>> 13) - (112 << 10));
    }

    /** Returns the float with the bits of a bfloat16 as its upper half. */
    public static float ofBrain(short bits) {
        return Float.intBitsToFloat(bits << BF16_BITS);
    }

    /** Returns the value of IEEE 754's binary16, which each float can hold. */
    public static float ofHalf(short bits) {
        int size = bits & 0x7fff;
        int sign = (bits & 0x8000) << 16;
        if (size < 0x400) { // multiples of 2^-24
            return Float.intBitsToFloat(Float.floatToRawIntBits(size * 0x1p-24f) | sign);
        }
        int exponent = size >= 0x7c00 ? 0x7f800000 : (112 << 23); // infinity and NaN, or another bias
        return Float.intBitsToFloat(sign | (size >= 0x7c00 ? exponent | size << 13 : exponent + (size << 13)));
    }
}
