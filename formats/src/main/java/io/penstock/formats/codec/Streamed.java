// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.tukaani.xz.LZMAInputStream;
import org.tukaani.xz.XZInputStream;

/** bzip2 by commons-compress, and LZMA by xz, which an application that needs them adds. */
final class Streamed {

    private static final int XZ_START = 0xfd; // of its magic number; LZMA alone has a number less than 225 there
    private static final int XZ_HEADER = 12; // of a stream; the header of its first block follows
    private static final int LZMA2 = 0x21; // the filter that has a dictionary
    private static final int DECODER_BYTES = 1 << 18; // beside the dictionary
    private static final int BZIP2_BYTES = 5 << 20; // of its blocks

    private Streamed() {}

    private interface Opening {
        InputStream of(InputStream stored) throws IOException;
    }

    /** Apart, so that a class is linked without the other library. */
    private static final class Bzip2 {

        static InputStream of(InputStream stored) throws IOException {
            return new BZip2CompressorInputStream(stored, true);
        }
    }

    /** As {@link Bzip2}. */
    private static final class Lzma {

        static InputStream of(InputStream stored, boolean xz, int mostBytes) throws IOException {
            return xz
                    ? new XZInputStream(stored, (int) (memory("lzma", mostBytes) >> 10))
                    : new LZMAInputStream(stored); // whose dictionary has been lowered for certain
        }
    }

    /** Returns the most memory that a decoder takes to make so many bytes, beside them: of LZMA, for its dictionary. */
    static long memory(String codec, long bytes) {
        return switch (codec) {
            case "lzma" -> DECODER_BYTES + Math.max(4096, bytes + bytes / 2); // 2 or 3 times a power of 2
            case "bz2" -> BZIP2_BYTES;
            default -> 0;
        };
    }

    /**
     * Checks that the library of a codec is there.
     *
     * @throws IllegalArgumentException if not
     */
    static void check(String codec) {
        boolean bzip2 = codec.equals("bz2");
        try {
            Class.forName(
                    bzip2
                            ? "org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream"
                            : "org.tukaani.xz.XZInputStream",
                    false,
                    Streamed.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(
                    "is compressed by " + codec + ", which needs "
                            + (bzip2 ? "org.apache.commons:commons-compress" : "org.tukaani:xz")
                            + ", which is not on the class path",
                    e);
        }
    }

    static byte[] bzip2(byte[] stored, int mostBytes) throws Codecs.Malformed {
        return decoded(stored, mostBytes, Bzip2::of);
    }

    static byte[] lzma(byte[] stored, int mostBytes) throws Codecs.Malformed {
        boolean xz = stored.length > 0 && Byte.toUnsignedInt(stored[0]) == XZ_START;
        byte[] lowered = stored.clone();
        try {
            lowerDictionary(ByteBuffer.wrap(lowered).order(ByteOrder.LITTLE_ENDIAN), xz, mostBytes);
        } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException e) {
            lowered = stored; // cut: the decoder complains
        }
        return decoded(lowered, mostBytes, in -> Lzma.of(in, xz, mostBytes));
    }

    /**
     * Lowers the dictionary that the data state, 8 MiB by default however few they are, to what so many bytes can need: a
     * decoder allocates what is stated. Of xz only the first block's; a larger one of another block is refused.
     */
    private static void lowerDictionary(ByteBuffer data, boolean xz, int mostBytes) {
        if (!xz) { // in the header of LZMA alone, behind a byte of properties
            int stated = data.getInt(1);
            data.putInt(1, Integer.compareUnsigned(stated, mostBytes) > 0 ? mostBytes : stated);
            return;
        }
        int length = 4 * Byte.toUnsignedInt(data.get(XZ_HEADER)); // of the block's header, without its sum
        ByteBuffer header = data.slice(XZ_HEADER, length).order(ByteOrder.LITTLE_ENDIAN);
        int sum = data.getInt(XZ_HEADER + length);
        int flags = header.get(1);
        if (sum != sum(header)) { // damaged: the decoder complains
            return;
        }
        header.position(2);
        for (int sizes = Integer.bitCount(flags & 0xc0); sizes > 0; sizes -= header.get() < 0 ? 0 : 1) {}
        for (int filters = flags & 3; filters >= 0; filters--) {
            int filter = header.get();
            int properties = header.get();
            if (filter == LZMA2) {
                int stated = header.get(header.position());
                int least = 0; // numbers 2 and 3 times powers of 2, from 4096 on
                while (least < stated && (2L | least & 1) << least / 2 + 11 < mostBytes) {
                    least++;
                }
                header.put(header.position(), (byte) least);
            }
            header.position(header.position() + properties);
        }
        data.putInt(XZ_HEADER + length, sum(header));
    }

    private static int sum(ByteBuffer header) {
        CRC32 crc = new CRC32();
        crc.update(header.duplicate().rewind());
        return (int) crc.getValue();
    }

    private static byte[] decoded(byte[] stored, int mostBytes, Opening opening) throws Codecs.Malformed {
        ByteArrayInputStream rest = new ByteArrayInputStream(stored);
        try (InputStream in = opening.of(rest)) {
            byte[] bytes = in.readNBytes(mostBytes);
            if (in.read() >= 0) {
                throw new Codecs.Malformed("there are more than " + mostBytes + " bytes");
            }
            if (rest.available() > 0) {
                throw new Codecs.Malformed(rest.available() + " bytes follow the end of the data");
            }
            return bytes;
        } catch (IOException | RuntimeException e) { // what a decoder runs into
            if (e.getClass().getSimpleName().equals("MemoryLimitException")) { // a class that may not be there
                throw new Codecs.Malformed(
                        "its dictionary is larger than " + mostBytes + " bytes can need: " + e.getMessage());
            }
            throw new Codecs.Malformed("the data are damaged: " + e.getMessage());
        }
    }
}
