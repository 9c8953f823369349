// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Decodes what chunks passed through before they were stored. */
final class Codecs {

    /** What a codec may add before the next one: a header of NumPy, a sum. */
    private static final int MOST_ADDED = 16 << 10;

    /** Undoes a codec. The result has at most {@code mostBytes}: what has more is malformed. */
    private interface Decoder {
        byte[] decode(byte[] stored, int mostBytes) throws Malformed;
    }

    /** The bytes are not what the codec writes. */
    static final class Malformed extends Exception {

        private static final long serialVersionUID = 1;

        Malformed(String complaint) {
            super(complaint);
        }
    }

    private static final Map<String, Decoder> DECODERS = Map.of(
            "deflate", (stored, most) -> inflated(stored, 0, true, most),
            "zlib", (stored, most) -> inflated(stored, 0, false, most),
            "gzip", (stored, most) -> Gzip.decode(stored, most),
            "zstd", (stored, most) -> Zstandard.decode(stored, most),
            "lz4", (stored, most) -> sized(stored, most),
            "lz4-frame", (stored, most) -> Lz4Frame.decode(stored, most),
            "blosc", (stored, most) -> Blosc.decode(stored, most),
            "crc32c", (stored, most) -> summed(stored),
            "arrow-padding", (stored, most) -> stored.length > most ? Arrays.copyOf(stored, most) : stored,
            "npy", (stored, most) -> withoutHeader(stored));

    private Codecs() {}

    /**
     * Checks that a chunk can be decoded.
     *
     * @throws IllegalArgumentException if not
     */
    static void check(Array array, Array.ChunkData chunk) {
        for (String codec : chunk.codecs()) {
            if (!DECODERS.containsKey(codec)) {
                throw new IllegalArgumentException(
                        "array " + array.name() + " is encoded by " + codec + ", which cannot be decoded");
            }
            if (codec.equals("zstd")) {
                Zstandard.check();
            }
        }
    }

    /** Returns the elements of a chunk, which must have {@code bytes} bytes. */
    static ByteBuffer decode(Array.ChunkData chunk, byte[] stored, int bytes) {
        byte[] decoded = stored;
        List<String> codecs = chunk.codecs();
        for (int i = codecs.size() - 1; i >= 0; i--) {
            Decoder decoder = DECODERS.get(codecs.get(i));
            if (decoder == null) {
                throw new IllegalStateException("not checked: " + codecs);
            }
            try {
                decoded = decoder.decode(decoded, i == 0 ? bytes : Math.addExact(bytes, MOST_ADDED));
            } catch (Malformed e) {
                throw malformed(chunk, codecs.get(i) + ": " + e.getMessage());
            }
        }
        if (decoded.length != bytes) {
            throw malformed(chunk, "it must have " + bytes + " bytes once decoded, had " + decoded.length);
        }
        return ByteBuffer.wrap(decoded);
    }

    private static MalformedFileException malformed(Array.ChunkData chunk, String complaint) {
        return new MalformedFileException(
                chunk.extent().file(),
                "encoded",
                "chunk " + chunk.position() + " at byte " + chunk.extent().offset() + ": " + complaint);
    }

    static byte[] inflated(byte[] stored, int start, boolean raw, int mostBytes) throws Malformed {
        Inflater inflater = new Inflater(raw);
        try {
            inflater.setInput(stored, start, stored.length - start);
            byte[] bytes = new byte[mostBytes];
            int count = 0;
            while (!inflater.finished() && count < bytes.length) {
                int inflated = inflater.inflate(bytes, count, bytes.length - count);
                if (inflated == 0 && !inflater.finished()) {
                    throw new Malformed("the data end early");
                }
                count += inflated;
            }
            byte[] more = new byte[1];
            if (!inflater.finished() && inflater.inflate(more) > 0) {
                throw new Malformed("there are more than " + mostBytes + " bytes");
            }
            if (!inflater.finished()) {
                throw new Malformed("the data end early"); // a checksum is missing
            }
            return count == bytes.length ? bytes : Arrays.copyOf(bytes, count);
        } catch (DataFormatException e) {
            throw new Malformed(String.valueOf(e.getMessage()));
        } finally {
            inflater.end();
        }
    }

    /** LZ4 as numcodecs writes it: the length once decompressed, in 4 bytes, before the block. */
    private static byte[] sized(byte[] stored, int mostBytes) throws Malformed {
        if (stored.length < Integer.BYTES) {
            throw new Malformed("it must begin with a length");
        }
        int length = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN).getInt();
        if (length < 0 || length > mostBytes) {
            throw new Malformed("there are " + Integer.toUnsignedString(length) + " bytes, more than " + mostBytes);
        }
        byte[] bytes = new byte[length];
        int count = Lz4.block(stored, Integer.BYTES, stored.length, bytes, 0, length);
        if (count != length) {
            throw new Malformed("there must be " + length + " bytes, were " + count);
        }
        return bytes;
    }

    private static byte[] summed(byte[] stored) throws Malformed {
        int length = stored.length - Integer.BYTES;
        if (length < 0) {
            throw new Malformed("it must have a sum of 4 bytes");
        }
        CRC32C crc = new CRC32C();
        crc.update(stored, 0, length);
        int sum = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN).getInt(length);
        if (sum != (int) crc.getValue()) {
            throw new Malformed("the sum must be %08x, was %08x".formatted(sum, crc.getValue()));
        }
        return Arrays.copyOf(stored, length);
    }

    private static byte[] withoutHeader(byte[] stored) throws Malformed {
        boolean isShort = stored.length > 6 && stored[6] == 1;
        int start = isShort ? 10 : 12;
        if (stored.length < start) {
            throw new Malformed("it must have a header");
        }
        ByteBuffer header = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN);
        int length = isShort ? Short.toUnsignedInt(header.getShort(8)) : header.getInt(8);
        if (length < 0 || length > stored.length - start) {
            throw new Malformed("its header is longer than it");
        }
        return Arrays.copyOfRange(stored, start + length, stored.length);
    }
}
