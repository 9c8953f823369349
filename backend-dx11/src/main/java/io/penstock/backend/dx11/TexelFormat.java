// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

/** The bytes of a texel, by {@code DXGI_FORMAT}: those that are one piece of memory each, without depth or stencil. */
final class TexelFormat {

    /** From, to and bytes: dxgiformat.h counts layout by layout. */
    private static final int[][] RUNS = {
        {1, 4, 16}, // R32G32B32A32
        {5, 8, 12}, // R32G32B32
        {9, 14, 8}, // R16G16B16A16
        {15, 18, 8}, // R32G32
        {23, 38, 4}, // R10G10B10A2, R11G11B10, R8G8B8A8, R16G16
        {39, 39, 4}, // R32_TYPELESS
        {41, 43, 4}, // R32
        {48, 54, 2}, // R8G8, R16_TYPELESS, R16_FLOAT
        {56, 59, 2}, // R16
        {60, 65, 1}, // R8, A8
        {67, 67, 4}, // R9G9B9E5
        {85, 86, 2}, // B5G6R5, B5G5R5A1
        {87, 88, 4}, // B8G8R8A8, B8G8R8X8
        {90, 93, 4}, // their TYPELESS and SRGB
        {115, 115, 2} // B4G4R4A4
    };

    private TexelFormat() {}

    /** Returns the bytes of a texel; 0 for formats that files are not read into. */
    static int bytes(int format) {
        for (int[] run : RUNS) {
            if (format >= run[0] && format <= run[1]) {
                return run[2];
            }
        }
        return 0;
    }
}
