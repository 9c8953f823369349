// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.util.Arrays;

/** Zstandard, by zstd-jni, which an application that needs it adds. */
final class Zstandard {

    private Zstandard() {}

    /**
     * Checks that the library is there.
     *
     * @throws IllegalArgumentException if not
     */
    static void check() {
        try {
            if (Zstd.magicNumber() == 0) {
                throw new IllegalStateException("zstd-jni has no magic number");
            }
        } catch (LinkageError e) {
            boolean absent = e instanceof NoClassDefFoundError && e.getCause() instanceof ClassNotFoundException;
            throw new IllegalArgumentException(
                    "is compressed by zstd, which needs com.github.luben:zstd-jni, which "
                            + (absent
                                    ? "is not on the class path"
                                    : "cannot be loaded (" + e
                                            + "): set -DZstdTempFolder to a folder that allows execution"),
                    e);
        }
    }

    static byte[] decode(byte[] stored, int mostBytes) throws Codecs.Malformed {
        byte[] bytes;
        long count;
        try {
            // Of the first frame; if it is not there, 0 or less, or an exception, by the version of the library.
            long size = Zstd.getFrameContentSize(stored);
            if (size > mostBytes) {
                throw new Codecs.Malformed("there are " + size + " bytes, more than " + mostBytes);
            }
            bytes = new byte[mostBytes];
            count = Zstd.decompress(bytes, stored);
        } catch (ZstdException e) {
            throw new Codecs.Malformed(String.valueOf(e.getMessage()));
        }
        if (Zstd.isError(count)) {
            throw new Codecs.Malformed(Zstd.getErrorName(count));
        }
        return count == mostBytes ? bytes : Arrays.copyOf(bytes, (int) count);
    }
}
