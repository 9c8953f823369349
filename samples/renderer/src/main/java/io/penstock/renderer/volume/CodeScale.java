// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * Puts voxels on a scale of unsigned 16-bit codes, on which all shading is done: integers by an offset, exactly;
 * floats between the smallest and the largest.
 *
 * @param lowest the value of code 0
 * @param perUnit codes per unit of value
 * @param codes how many codes there are
 */
record CodeScale(float lowest, float perUnit, int codes) {

    private static final int FLOAT_CODES = 1 << 16;

    static CodeScale between(float lowest, float highest) {
        // In double: the difference of two floats may be infinite as a float.
        double perUnit = highest > lowest ? (FLOAT_CODES - 1) / ((double) highest - lowest) : 1;
        return new CodeScale(lowest, (float) Math.min(perUnit, Float.MAX_VALUE), FLOAT_CODES);
    }

    /** Returns the scale of an integer type, which does not depend on the voxels. */
    static CodeScale of(NiftiHeader header) {
        VoxelType type = header.type();
        float lowest = header.falling() ? -type.highest() : type.lowest();
        return new CodeScale(lowest, 1, 1 << (8 * type.bytes()));
    }

    /** Writes the codes of a row; NaN becomes 0. */
    void encode(float[] row, char[] into, int at) {
        float top = codes - 1;
        for (int x = 0; x < row.length; x++) {
            float code = (row[x] - lowest) * perUnit;
            into[at + x] = (char) (Math.min(code, top) + 0.5f); // the cast makes NaN 0
        }
    }
}
