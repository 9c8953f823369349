// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** LZ4's frame format ({@code lz4_Frame_format.md}), one frame, without a dictionary; sums are checked. */
final class Lz4Frame {

    private static final int MAGIC = 0x184D2204;
    private static final int PLAIN = 0x80000000; // a block that is not compressed
    private static final int HAS_DICTIONARY = 1;
    private static final int RESERVED = 2;
    private static final int HAS_SUM = 4;
    private static final int HAS_SIZE = 8;
    private static final int HAS_BLOCK_SUMS = 16;

    // Of xxHash.
    private static final int PRIME_1 = 0x9E3779B1;
    private static final int PRIME_2 = 0x85EBCA77;
    private static final int PRIME_3 = 0xC2B2AE3D;
    private static final int PRIME_4 = 0x27D4EB2F;
    private static final int PRIME_5 = 0x165667B1;
    private static final int STRIPE = 16;

    private Lz4Frame() {}

    static byte[] decode(byte[] stored, int mostBytes) throws Codecs.Malformed {
        ByteBuffer in = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN);
        require(in, 7);
        if (in.getInt() != MAGIC) {
            throw new Codecs.Malformed("it must begin with the magic number of a frame");
        }
        int start = in.position();
        int flags = in.get();
        int blockSize = in.get() >>> 4;
        if ((flags & 0xff) >>> 6 != 1 || (flags & (HAS_DICTIONARY | RESERVED)) != 0 || blockSize < 4 || blockSize > 7) {
            throw new Codecs.Malformed(
                    "version, flags 0x%02x and size of blocks %d are not supported".formatted(flags & 0xff, blockSize));
        }
        boolean sized = (flags & HAS_SIZE) != 0;
        require(in, sized ? 9 : 1);
        long size = sized ? in.getLong() : -1;
        int sum = xxHash32(stored, start, in.position() - start) >>> 8 & 0xff;
        if ((in.get() & 0xff) != sum) {
            throw new Codecs.Malformed("the sum of its header is wrong");
        }
        if (size > mostBytes || sized && size < 0) {
            throw new Codecs.Malformed("there are " + Long.toUnsignedString(size) + " bytes, more than " + mostBytes);
        }
        byte[] out = new byte[mostBytes];
        int count = blocks(stored, in, flags, 1 << 2 * blockSize + 8, out);
        if (sized && size != count) {
            throw new Codecs.Malformed("there must be " + size + " bytes, were " + count);
        }
        if ((flags & HAS_SUM) != 0) {
            require(in, Integer.BYTES);
            if (in.getInt() != xxHash32(out, 0, count)) {
                throw new Codecs.Malformed("the sum of its content is wrong");
            }
        }
        if (in.hasRemaining()) {
            throw new Codecs.Malformed(in.remaining() + " bytes follow the frame");
        }
        return count == mostBytes ? out : Arrays.copyOf(out, count);
    }

    private static int blocks(byte[] stored, ByteBuffer in, int flags, int most, byte[] out) throws Codecs.Malformed {
        int count = 0;
        while (true) {
            require(in, Integer.BYTES);
            int size = in.getInt();
            if (size == 0) {
                return count;
            }
            int length = size & ~PLAIN;
            int sumBytes = (flags & HAS_BLOCK_SUMS) != 0 ? Integer.BYTES : 0;
            if (length > in.remaining() - sumBytes || length > most) {
                throw new Codecs.Malformed("a block of " + length + " bytes is longer than the rest, or than " + most);
            }
            int at = in.position();
            in.position(at + length);
            if (sumBytes > 0 && in.getInt() != xxHash32(stored, at, length)) {
                throw new Codecs.Malformed("the sum of a block is wrong");
            }
            count += block(stored, at, size, out, count);
        }
    }

    private static int block(byte[] in, int at, int size, byte[] out, int to) throws Codecs.Malformed {
        int length = size & ~PLAIN;
        if ((size & PLAIN) == 0) {
            // Blocks may be linked: a match may reach into the blocks before.
            return Lz4.block(in, at, at + length, out, to, out.length);
        }
        if (length > out.length - to) {
            throw new Codecs.Malformed("there are more than " + out.length + " bytes");
        }
        System.arraycopy(in, at, out, to, length);
        return length;
    }

    private static void require(ByteBuffer in, int bytes) throws Codecs.Malformed {
        if (in.remaining() < bytes) {
            throw new Codecs.Malformed("the frame ends early");
        }
    }

    /** Returns xxHash of 32 bits, seed 0, as LZ4's frames have it. */
    private static int xxHash32(byte[] bytes, int start, int length) {
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
