// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.tukaani.xz.LZMAInputStream;
import org.tukaani.xz.XZInputStream;

/** bzip2 by commons-compress, and LZMA by xz, which an application that needs them adds. */
final class Streamed {

    private static final int MOST_DICTIONARY = 66 << 10; // KiB: a file states how many, xz -9 needs 65 MiB
    private static final int XZ_START = 0xfd; // of its magic number; LZMA alone has a number less than 225 there

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

        static InputStream of(InputStream stored, boolean xz) throws IOException {
            return xz ? new XZInputStream(stored, MOST_DICTIONARY) : new LZMAInputStream(stored, MOST_DICTIONARY);
        }
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
        return decoded(stored, mostBytes, in -> Lzma.of(in, xz));
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
            throw new Codecs.Malformed("the data are damaged: " + e.getMessage());
        }
    }
}
