// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

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
            throw new IllegalArgumentException(
                    "data compressed by zstd need com.github.luben:zstd-jni, which is not on the class path, or does not"
                            + " load here: " + e,
                    e);
        }
    }

    static byte[] decode(byte[] stored, int mostBytes) throws Codecs.Malformed {
        byte[] bytes = new byte[mostBytes];
        long count;
        try {
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
