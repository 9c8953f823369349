// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** LZ4's frame format ({@code lz4_Frame_format.md}), one frame, without a dictionary; sums are checked. */
final class Lz4Frame {

    private static final int MAGIC = 0x184D2204;
    private static final int PLAIN = 0x80000000; // a block that is not compressed
    private static final int HAS_DICTIONARY = 1;
    private static final int HAS_SUM = 4;
    private static final int HAS_SIZE = 8;
    private static final int HAS_BLOCK_SUMS = 16;

    private Lz4Frame() {}

    static byte[] decode(byte[] stored, int mostBytes) throws Codecs.Malformed {
        ByteBuffer in = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN);
        require(in, 7);
        if (in.getInt() != MAGIC) {
            throw new Codecs.Malformed("it must begin with the magic number of a frame");
        }
        int start = in.position();
        int flags = in.get();
        in.get(); // the largest size of a block, which its own size is checked against anyway
        if (flags >>> 6 != 1 || (flags & HAS_DICTIONARY) != 0) {
            throw new Codecs.Malformed("version and flags 0x%02x are not supported".formatted(flags & 0xff));
        }
        require(in, (flags & HAS_SIZE) != 0 ? 9 : 1);
        in.position(in.position() + ((flags & HAS_SIZE) != 0 ? Long.BYTES : 0));
        int sum = XxHash32.of(stored, start, in.position() - start) >>> 8 & 0xff;
        if ((in.get() & 0xff) != sum) {
            throw new Codecs.Malformed("the sum of its header is wrong");
        }
        byte[] out = new byte[mostBytes];
        int count = blocks(stored, in, flags, out);
        if ((flags & HAS_SUM) != 0) {
            require(in, Integer.BYTES);
            if (in.getInt() != XxHash32.of(out, 0, count)) {
                throw new Codecs.Malformed("the sum of its content is wrong");
            }
        }
        return count == mostBytes ? out : Arrays.copyOf(out, count);
    }

    private static int blocks(byte[] stored, ByteBuffer in, int flags, byte[] out) throws Codecs.Malformed {
        int count = 0;
        while (true) {
            require(in, Integer.BYTES);
            int size = in.getInt();
            if (size == 0) {
                return count;
            }
            int length = size & ~PLAIN;
            int sumBytes = (flags & HAS_BLOCK_SUMS) != 0 ? Integer.BYTES : 0;
            if (length > in.remaining() - sumBytes) {
                throw new Codecs.Malformed("a block of " + length + " bytes is longer than the rest");
            }
            int at = in.position();
            in.position(at + length);
            if (sumBytes > 0 && in.getInt() != XxHash32.of(stored, at, length)) {
                throw new Codecs.Malformed("the sum of a block is wrong");
            }
            count += block(stored, at, size, out, count);
        }
    }

    private static int block(byte[] in, int at, int size, byte[] out, int to) throws Codecs.Malformed {
        int length = size & ~PLAIN;
        if ((size & PLAIN) == 0) {
            // Blocks may be linked: a match may reach into those before.
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
}
