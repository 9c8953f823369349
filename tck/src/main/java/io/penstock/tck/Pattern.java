// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * Content that is a function of the offset in a file, so that every byte can be checked wherever it is copied.
 *
 * @param seed distinguishes the contents of files
 */
public record Pattern(long seed) {

    /** The byte that memory is filled with before a read. */
    public static final byte POISON = (byte) 0xA5;

    /** Returns the content of the file with that name. */
    public static Pattern of(Path path) {
        return new Pattern(String.valueOf(path.getFileName()).hashCode());
    }

    /** Returns the byte at an offset. */
    public byte at(long offset) {
        return (byte) (word(offset >>> 3) >>> ((offset & 7) << 3));
    }

    private long word(long index) {
        // The finalizer of SplitMix64: neighbouring words are unrelated, so that a shifted block is detected.
        long z = (index + 1) * 0x9E3779B97F4A7C15L ^ seed * 0xD1342543DE82EF95L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** Fills the remaining bytes of {@code target} with the content from {@code offset} on; moves its position. */
    public void fill(ByteBuffer target, long offset) {
        ByteBuffer words = target.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        for (long at = offset; words.hasRemaining(); ) {
            if (isWord(at, words.remaining())) {
                words.putLong(word(at >>> 3));
                at += Long.BYTES;
            } else {
                words.put(at(at++));
            }
        }
        target.position(target.limit());
    }

    /** Returns where the remaining bytes of {@code bytes} first differ from the content at {@code offset}, or -1. */
    public int difference(ByteBuffer bytes, long offset) {
        ByteBuffer words = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        int i = 0;
        while (i < words.limit()) {
            long at = offset + i;
            if (isWord(at, words.limit() - i) && words.getLong(i) == word(at >>> 3)) {
                i += Long.BYTES;
            } else if (words.get(i) == at(at)) {
                i++;
            } else {
                return i;
            }
        }
        return -1;
    }

    /** Returns whether a whole word lies at an offset of which there are so many bytes. */
    private static boolean isWord(long offset, int bytes) {
        return (offset & 7) == 0 && bytes >= Long.BYTES;
    }
}
