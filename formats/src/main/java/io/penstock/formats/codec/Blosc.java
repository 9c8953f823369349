// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Blosc, format versions 1 and 2 ({@code README_CHUNK_FORMAT.rst}): blocks that are shuffled by bytes or bits, cut into
 * a stream for each byte of an element, and compressed by LZ4, Zstandard or zlib. BloscLZ and Snappy are not supported.
 */
final class Blosc {

    private static final int HEADER = 16;
    private static final int SHUFFLED = 1;
    private static final int PLAIN = 2; // the data follow the header as they are
    private static final int BIT_SHUFFLED = 4;
    private static final int RESERVED = 8;
    private static final int NOT_SPLIT = 16;
    private static final int MOST_SPLITS = 16;
    private static final int LEAST_BLOCK = 128; // of each stream
    private static final int LZ4 = 1;
    private static final int ZLIB = 3;
    private static final int ZSTD = 4;

    private final byte[] in;
    private final ByteBuffer stored; // the same
    private final byte[] bytes;
    private final int flags;
    private final int typeSize;

    private Blosc(byte[] in, ByteBuffer stored, byte[] bytes, int flags, int typeSize) {
        this.in = in;
        this.stored = stored;
        this.bytes = bytes;
        this.flags = flags;
        this.typeSize = typeSize;
    }

    static byte[] decode(byte[] stored, int mostBytes) throws Codecs.Malformed {
        ByteBuffer in = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN);
        if (stored.length < HEADER) {
            throw new Codecs.Malformed("it must have a header of 16 bytes");
        }
        int version = in.get(0);
        int flags = in.get(2);
        int length = in.getInt(4);
        int block = in.getInt(8);
        if (version < 1 || version > 2 || in.getInt(12) != stored.length) {
            throw new Codecs.Malformed("version " + version + " of " + in.getInt(12) + " bytes, had " + stored.length);
        }
        if (length < 0 || length > mostBytes) {
            throw new Codecs.Malformed(
                    "there are " + Integer.toUnsignedString(length) + " bytes, more than " + mostBytes);
        }
        Blosc blosc = new Blosc(stored, in, new byte[length], flags, in.get(3) & 0xff);
        if (length == 0) {
            return blosc.bytes;
        }
        blosc.checkHeader(block);
        if ((flags & PLAIN) != 0) {
            if (stored.length - HEADER != length) {
                throw new Codecs.Malformed("there must be " + length + " bytes, were " + (stored.length - HEADER));
            }
            System.arraycopy(stored, HEADER, blosc.bytes, 0, length);
            return blosc.bytes;
        }
        if (in.get(1) != 1) {
            throw new Codecs.Malformed("version " + in.get(1) + " of its compressor is not supported");
        }
        if ((length - 1) / block + 1 > (stored.length - HEADER) / Integer.BYTES) {
            throw new Codecs.Malformed("there are more blocks of " + block + " bytes than it can have");
        }
        blosc.blocks(block);
        return blosc.bytes;
    }

    private void checkHeader(int block) throws Codecs.Malformed {
        if ((flags & RESERVED) != 0
                || (flags & (SHUFFLED | BIT_SHUFFLED)) == (SHUFFLED | BIT_SHUFFLED)
                || typeSize == 0
                || block < 1
                || block > bytes.length) {
            throw new Codecs.Malformed(
                    "flags 0x%02x, elements of %d bytes and blocks of %d of %d bytes are not possible"
                            .formatted(flags & 0xff, typeSize, block, bytes.length));
        }
    }

    private void blocks(int blockBytes) throws Codecs.Malformed {
        int count = (bytes.length - 1) / blockBytes + 1;
        for (int i = 0; i < count; i++) {
            int start = i * blockBytes;
            int length = Math.min(blockBytes, bytes.length - start);
            int at = stored.getInt(HEADER + Integer.BYTES * i);
            byte[] block = block(at, length, length < blockBytes);
            if ((flags & SHUFFLED) != 0 && typeSize > 1) {
                unshuffle(block, start);
            } else if ((flags & BIT_SHUFFLED) != 0 && length / typeSize % Byte.SIZE == 0) { // others are not shuffled
                unshuffleBits(block, start);
            } else {
                System.arraycopy(block, 0, bytes, start, length);
            }
        }
    }

    private byte[] block(int start, int length, boolean last) throws Codecs.Malformed {
        boolean split = (flags & NOT_SPLIT) == 0
                && !last
                && typeSize <= MOST_SPLITS
                && length / typeSize >= LEAST_BLOCK
                && length % typeSize == 0;
        int streams = split ? typeSize : 1;
        byte[] block = new byte[length];
        int at = start;
        for (int i = 0; i < streams; i++) {
            if (at < HEADER || at > stored.limit() - Integer.BYTES) {
                throw new Codecs.Malformed("a stream would start at byte " + at);
            }
            int compressed = stored.getInt(at);
            at += Integer.BYTES;
            if (compressed < 1 || compressed > stored.limit() - at) {
                throw new Codecs.Malformed("a stream at byte " + at + " would have " + compressed + " bytes");
            }
            stream(at, compressed, block, length / streams * i, length / streams);
            at += compressed;
        }
        return block;
    }

    private void stream(int at, int compressed, byte[] block, int to, int length) throws Codecs.Malformed {
        int codec = flags >>> 5 & 7;
        int count = length;
        if (compressed == length) {
            System.arraycopy(in, at, block, to, length); // did not become smaller
        } else if (codec == LZ4) {
            byte[] out = new byte[length]; // of its own, so that no match reaches into another stream
            count = Lz4.block(in, at, at + compressed, out, 0, length);
            System.arraycopy(out, 0, block, to, count);
        } else if (codec == ZLIB || codec == ZSTD) {
            byte[] stream = Arrays.copyOfRange(in, at, at + compressed);
            byte[] out = codec == ZLIB ? Codecs.inflated(stream, false, length) : Zstandard.decode(stream, length);
            count = out.length;
            System.arraycopy(out, 0, block, to, count);
        } else {
            throw new Codecs.Malformed(
                    "its compressor " + codec + " is not supported, only LZ4, zlib and Zstandard are");
        }
        if (count != length) {
            throw new Codecs.Malformed("a stream must have " + length + " bytes, had " + count);
        }
    }

    /** Each bit of an element has the bits of all elements beside each other, the lowest first. */
    private void unshuffleBits(byte[] block, int start) {
        int elements = block.length / typeSize;
        int planeBytes = elements / Byte.SIZE;
        int whole = elements * typeSize;
        for (int plane = 0; plane < Byte.SIZE * typeSize; plane++) {
            int to = start + plane / Byte.SIZE;
            for (int i = 0; i < elements; i++) {
                int bit = block[plane * planeBytes + i / Byte.SIZE] >>> i % Byte.SIZE & 1;
                bytes[to + i * typeSize] |= (byte) (bit << plane % Byte.SIZE);
            }
        }
        System.arraycopy(block, whole, bytes, start + whole, block.length - whole);
    }

    /** Puts the bytes of elements beside each other again; what is less than an element at the end is as it was. */
    private void unshuffle(byte[] block, int start) {
        int elements = block.length / typeSize;
        for (int i = 0; i < elements; i++) {
            for (int b = 0; b < typeSize; b++) {
                bytes[start + i * typeSize + b] = block[b * elements + i];
            }
        }
        int whole = elements * typeSize;
        System.arraycopy(block, whole, bytes, start + whole, block.length - whole);
    }
}
