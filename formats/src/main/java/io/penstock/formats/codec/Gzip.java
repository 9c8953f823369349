// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;

/** gzip (RFC 1952): members one behind the other, whose sums and lengths are checked, and zeros behind them. */
public final class Gzip {

    /** The complaint about a compressed file, whose arrays would have no place in it. */
    public static final String WHOLE = "it is compressed by gzip as a whole, and must be decompressed first";

    private static final int HEADER_BYTES = 10;
    private static final int TRAILER_BYTES = 8; // sum, length
    private static final int HAS_SUM = 2;
    private static final int HAS_EXTRA = 4;
    private static final int HAS_NAME = 8;
    private static final int HAS_COMMENT = 16;

    private Gzip() {}

    /** Returns whether a file of these first bytes is compressed. */
    public static boolean starts(byte[] start) {
        return start.length > 2 && start[0] == 0x1f && start[1] == (byte) 0x8b;
    }

    /** Returns what all members have, at most {@code mostBytes}. */
    public static byte[] decode(byte[] stored, int mostBytes) throws Codecs.Malformed {
        return decode(new Codecs.Inflation(stored, mostBytes));
    }

    static byte[] decode(Codecs.Inflation out) throws Codecs.Malformed {
        ByteBuffer in = ByteBuffer.wrap(out.stored()).order(ByteOrder.LITTLE_ENDIAN);
        do {
            skipHeader(in);
            long from = out.count();
            CRC32 sum = new CRC32();
            in.position(out.inflate(in.position(), true, sum));
            require(in, TRAILER_BYTES);
            int expected = in.getInt();
            if (expected != (int) sum.getValue()) {
                throw new Codecs.Malformed("the sum must be %08x, was %08x".formatted(expected, sum.getValue()));
            }
            int length = in.getInt();
            if (length != (int) (out.count() - from)) { // modulo 2^32
                throw new Codecs.Malformed(
                        "there must be " + Integer.toUnsignedString(length) + " bytes, were " + (out.count() - from));
            }
            while (in.hasRemaining() && in.get(in.position()) == 0) { // as of tapes
                in.get();
            }
        } while (in.hasRemaining());
        return out.all();
    }

    private static void skipHeader(ByteBuffer in) throws Codecs.Malformed {
        int start = in.position();
        require(in, HEADER_BYTES);
        if (in.get() != 0x1f || in.get() != (byte) 0x8b || in.get() != 8) {
            throw new Codecs.Malformed("at byte " + start + " must be a member compressed by deflate");
        }
        int flags = in.get();
        in.position(start + HEADER_BYTES);
        if ((flags & HAS_EXTRA) != 0) {
            require(in, Short.BYTES);
            int length = Short.toUnsignedInt(in.getShort());
            require(in, length);
            in.position(in.position() + length);
        }
        for (int text : new int[] {HAS_NAME, HAS_COMMENT}) {
            byte next = (byte) (flags & text);
            while (next != 0) {
                require(in, 1);
                next = in.get();
            }
        }
        if ((flags & HAS_SUM) != 0) {
            CRC32 sum = new CRC32();
            sum.update(in.duplicate().limit(in.position()).position(start));
            require(in, Short.BYTES);
            if (in.getShort() != (short) sum.getValue()) {
                throw new Codecs.Malformed("the sum of its header is wrong");
            }
        }
    }

    private static void require(ByteBuffer in, int bytes) throws Codecs.Malformed {
        if (in.remaining() < bytes) {
            throw new Codecs.Malformed("the data end early");
        }
    }
}
