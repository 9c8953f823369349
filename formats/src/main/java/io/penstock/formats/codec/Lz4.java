// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

/** LZ4's block format ({@code lz4_Block_format.md}): decompression into an array, with every index checked. */
final class Lz4 {

    private static final int LEAST_MATCH = 4;
    private static final int MORE = 15; // a length continues in the next byte

    private final byte[] in;
    private int at;
    private final int end;

    private Lz4(byte[] in, int start, int end) {
        this.in = in;
        this.at = start;
        this.end = end;
    }

    /**
     * Decompresses the block from {@code start} to {@code end} into {@code out}, from {@code outStart} to at most
     * {@code outEnd}; matches may reach back to the beginning of {@code out}. Returns the number of bytes.
     */
    static int block(byte[] in, int start, int end, byte[] out, int outStart, int outEnd) throws Codecs.Malformed {
        return new Lz4(in, start, end).decompress(out, outStart, outEnd);
    }

    private int decompress(byte[] out, int outStart, int outEnd) throws Codecs.Malformed {
        int to = outStart;
        while (at < end) {
            int token = in[at++] & 0xff;
            int literals = length(token >>> 4);
            if (literals > end - at || literals > outEnd - to) {
                throw new Codecs.Malformed("literals are longer than the block, or than what it may have");
            }
            System.arraycopy(in, at, out, to, literals);
            at += literals;
            to += literals;
            if (at == end) {
                return to - outStart; // the last sequence has no match
            }
            if (end - at < Short.BYTES) {
                throw new Codecs.Malformed("a match is not complete");
            }
            int distance = (in[at] & 0xff) | (in[at + 1] & 0xff) << 8;
            at += Short.BYTES;
            int match = length(token & MORE);
            if (distance == 0 || distance > to || match > outEnd - to - LEAST_MATCH) {
                throw new Codecs.Malformed("a match reaches before the data, or is longer than what they may have");
            }
            for (int last = to + match + LEAST_MATCH; to < last; to++) { // one by one: a match may overlap itself
                out[to] = out[to - distance];
            }
        }
        throw new Codecs.Malformed("it must end with literals");
    }

    private int length(int first) throws Codecs.Malformed {
        int length = first;
        int next = first == MORE ? 0xff : 0;
        while (next == 0xff) {
            if (at == end || length > Integer.MAX_VALUE - 2 * 0xff) {
                throw new Codecs.Malformed("a length is not complete");
            }
            next = in[at++] & 0xff;
            length += next;
        }
        return length;
    }
}
