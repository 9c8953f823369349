// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** xxHash of 32 bits, seed 0, as LZ4's frames have it. */
final class XxHash32 {

    private static final int PRIME_1 = 0x9E3779B1;
    private static final int PRIME_2 = 0x85EBCA77;
    private static final int PRIME_3 = 0xC2B2AE3D;
    private static final int PRIME_4 = 0x27D4EB2F;
    private static final int PRIME_5 = 0x165667B1;
    private static final int STRIPE = 16;

    private XxHash32() {}

    static int of(byte[] bytes, int start, int length) {
        ByteBuffer in = ByteBuffer.wrap(bytes, start, length).order(ByteOrder.LITTLE_ENDIAN);
        int hash = PRIME_5;
        if (length >= STRIPE) {
            int[] lanes = {0x24234428, PRIME_2, 0, -PRIME_1}; // the first: PRIME_1 + PRIME_2, which overflows
            while (in.remaining() >= STRIPE) {
                for (int i = 0; i < lanes.length; i++) {
                    lanes[i] = Integer.rotateLeft(lanes[i] + in.getInt() * PRIME_2, 13) * PRIME_1;
                }
            }
            hash = Integer.rotateLeft(lanes[0], 1)
                    + Integer.rotateLeft(lanes[1], 7)
                    + Integer.rotateLeft(lanes[2], 12)
                    + Integer.rotateLeft(lanes[3], 18);
        }
        hash += length;
        while (in.remaining() >= Integer.BYTES) {
            hash = Integer.rotateLeft(hash + in.getInt() * PRIME_3, 17) * PRIME_4;
        }
        while (in.hasRemaining()) {
            hash = Integer.rotateLeft(hash + (in.get() & 0xff) * PRIME_5, 11) * PRIME_1;
        }
        hash = (hash ^ hash >>> 15) * PRIME_2;
        hash = (hash ^ hash >>> 13) * PRIME_3;
        return hash ^ hash >>> 16;
    }
}
