// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/** Decodes what chunks passed through before they were stored. */
public final class Codecs {

    /** What a codec may add before the next one: a header of NumPy, a sum. */
    private static final int MOST_ADDED = 16 << 10;

    /** Undoes a codec. The result has at most {@code mostBytes}: what has more is malformed. */
    private interface Decoder {
        byte[] decode(byte[] stored, int mostBytes) throws Malformed;
    }

    /** The bytes are not what the codec writes. */
    public static final class Malformed extends Exception {

        private static final long serialVersionUID = 1;

        Malformed(String complaint) {
            super(complaint);
        }
    }

    private static final Set<String> ZARR = Set.of("zlib", "gzip", "zstd", "lz4", "blosc", "crc32c", "bz2", "lzma");

    private static final Map<String, Decoder> DECODERS = Map.of(
            "zlib", (stored, most) -> inflated(stored, false, most),
            "gzip", (stored, most) -> Gzip.decode(stored, most),
            "zstd", (stored, most) -> Zstandard.decode(stored, most),
            "lz4", (stored, most) -> sized(stored, most),
            "lz4-frame", (stored, most) -> Lz4Frame.decode(stored, most),
            "blosc", (stored, most) -> Blosc.decode(stored, most),
            "bz2", (stored, most) -> Streamed.bzip2(stored, most),
            "lzma", (stored, most) -> Streamed.lzma(stored, most),
            "crc32c", (stored, most) -> summed(stored),
            "npy", (stored, most) -> withoutHeader(stored));

    // Names of our own, with a parameter: no file has them.
    private static final String PADDING = "arrow-padding:";
    private static final String NULLS = "arrow-nulls:"; // with the rows of a validity, how many are null, its name
    private static final String OFFSETS = "arrow-offsets:"; // with their width, order and number, their end, their name
    private static final String DEFLATE = "deflate:"; // with the CRC-32 of what is inflated
    private static final String HEADER = "nifti:"; // with the bytes before the elements
    private static final String SHUFFLE = "shuffle:"; // with the bytes of an element
    private static final String DELTA = "delta:"; // with the types of the numbers, and of their differences
    private static final String GZIP = "gzip:"; // with the bytes that count, and what complains about more, if anything
    private static final List<String> OURS = List.of(PADDING, NULLS, OFFSETS, DEFLATE, HEADER, SHUFFLE, DELTA, GZIP);

    /**
     * How many bytes a byte can become: of deflate; of LZ4; of Zstandard, whose blocks have 128 KiB; of bzip2, whose
     * blocks have 900,000 bytes that may stand for runs of 255; of LZMA, whose matches may take less than a bit.
     */
    private static final Map<String, Integer> MOST_RATIO = Map.ofEntries(
            Map.entry("deflate", 1032),
            Map.entry("zlib", 1032),
            Map.entry("gzip", 1032),
            Map.entry("lz4", 255),
            Map.entry("lz4-frame", 255),
            Map.entry("zstd", 1 << 15),
            Map.entry("blosc", 1 << 15),
            Map.entry("bz2", 1 << 21),
            Map.entry("lzma", 1 << 16),
            Map.entry("delta", Long.BYTES));

    private Codecs() {}

    /** Returns the codec that adds so many bytes. */
    public static String padding(long bytes) {
        return PADDING + bytes;
    }

    /** Returns the codec that leaves a validity bitmap as it is, which must have so many nulls. */
    public static String nulls(long rows, long nulls, String name) {
        return NULLS + rows + ":" + nulls + ":" + name;
    }

    /** Returns the codec that leaves so many offsets as they are, which must rise from 0 to at most {@code end}. */
    public static String offsets(int width, ByteOrder order, long count, long end, String name) {
        return OFFSETS + width + ":" + order + ":" + count + ":" + end + ":" + name;
    }

    /** Returns the codec of a member of a zip file, which must have that sum. */
    public static String deflate(int sum) {
        return DEFLATE + "%08x".formatted(sum);
    }

    /** Returns the codec that has so many bytes before the elements. */
    public static String header(long bytes) {
        return HEADER + bytes;
    }

    /** Returns the codec of gzip whose data go on behind so many bytes: refused by a complaint, or ignored if it is empty. */
    public static String gzip(long bytes, String complaint) {
        return GZIP + bytes + ":" + complaint;
    }

    /** Returns the filter that puts bytes of elements apart. */
    public static String shuffle(long elementBytes) {
        return SHUFFLE + elementBytes;
    }

    /** Returns the filter that stores differences of numbers, by NumPy's names of their types; null if none can. */
    public static @Nullable String delta(String type, String differences) {
        return Filters.isDelta(type, differences) ? DELTA + type + ":" + differences : null;
    }

    /** Returns a codec without its parameter. */
    public static String name(String codec) {
        boolean ours = OURS.stream().anyMatch(codec::startsWith);
        return ours ? codec.substring(0, codec.indexOf(':')) : codec;
    }

    /** Returns the codec of Zarr that a file calls {@code name}: {@code own} if it can be decoded; others never can. */
    public static String foreign(String name, String own) {
        boolean ours = DECODERS.containsKey(name) || !name(name).equals(name);
        return ZARR.contains(own) ? own : ours ? "'" + name + "'" : name;
    }

    /** Returns how many of so many rows are null by a validity bitmap. */
    public static long nulls(byte[] bitmap, long rows) {
        int whole = (int) (rows / Byte.SIZE);
        int rest = (int) (rows % Byte.SIZE);
        long valid = rest == 0 ? 0 : Integer.bitCount(bitmap[whole] & (1 << rest) - 1);
        for (int i = 0; i < whole; i++) {
            valid += Integer.bitCount(Byte.toUnsignedInt(bitmap[i]));
        }
        return rows - valid;
    }

    /** Returns what is wrong where the two numbers of nulls differ. */
    public static String contradiction(long rows, long nulls, long found) {
        return "its field has " + nulls + " nulls in " + rows + " rows by the record batch, but " + found
                + " by its validity";
    }

    /** Returns what is wrong with an offset that is less than the one before it, or beyond the end. */
    public static String outside(long index, long offset, long before, long end) {
        return "offset " + index + " is " + offset + ", but must be between the one before it, " + before + ", and the "
                + end + " that there are";
    }

    private static @Nullable Decoder decoder(String codec) {
        String parameter = codec.substring(codec.indexOf(':') + 1);
        if (codec.startsWith(PADDING)) {
            return (stored, most) -> {
                int length = stored.length - Integer.parseInt(parameter);
                if (length < 0 || length > most) {
                    throw new Malformed("there must be at most " + most + " bytes before the padding, were " + length);
                }
                return Arrays.copyOf(stored, length);
            };
        }
        if (codec.startsWith(NULLS)) {
            return (stored, most) -> {
                String[] field = parameter.split(":", 3);
                long rows = Long.parseLong(field[0]);
                long said = Long.parseLong(field[1]);
                long nulls = stored.length < most ? said : nulls(stored, rows); // its length is refused
                if (nulls != said) {
                    throw new Malformed("buffer " + field[2] + ": " + contradiction(rows, said, nulls));
                }
                return stored;
            };
        }
        if (codec.startsWith(OFFSETS)) {
            return (stored, most) -> rising(stored, parameter.split(":", 5));
        }
        if (codec.startsWith(DEFLATE)) {
            return (stored, most) -> {
                byte[] bytes = inflated(stored, true, most);
                CRC32 crc = new CRC32();
                crc.update(bytes);
                if (crc.getValue() != Long.parseLong(parameter, 16)) {
                    throw new Malformed("the CRC-32 must be " + parameter + ", was %08x".formatted(crc.getValue()));
                }
                return bytes;
            };
        }
        return plain(codec, parameter);
    }

    /** Returns the decoder of what is compared with nothing. */
    private static @Nullable Decoder plain(String codec, String parameter) {
        if (codec.startsWith(HEADER)) {
            int length = Integer.parseInt(parameter);
            return (stored, most) -> {
                if (stored.length < length) {
                    throw new Malformed(
                            "there must be " + length + " bytes before the elements, were " + stored.length);
                }
                return Arrays.copyOfRange(stored, length, stored.length);
            };
        }
        if (codec.startsWith(GZIP)) {
            String[] end = parameter.split(":", 2);
            return (stored, most) ->
                    Gzip.decode(new Inflation(stored, (int) Math.min(Long.parseLong(end[0]), most), end[1]));
        }
        if (codec.startsWith(SHUFFLE)) {
            return (stored, most) -> Filters.unshuffled(stored, Integer.parseInt(parameter));
        }
        if (codec.startsWith(DELTA)) {
            String[] types = parameter.split(":", 2);
            return (stored, most) -> Filters.summed(stored, types[0], types[1], most);
        }
        return DECODERS.get(codec);
    }

    private static byte[] rising(byte[] stored, String[] field) throws Malformed {
        int width = Integer.parseInt(field[0]);
        ByteBuffer bytes = ByteBuffer.wrap(stored)
                .order(field[1].equals("LITTLE_ENDIAN") ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        long count = Math.min(Long.parseLong(field[2]), stored.length / width); // its length is refused
        long end = Long.parseLong(field[3]);
        long before = 0;
        for (int i = 0; i < count; i++) {
            long offset = width == Integer.BYTES ? bytes.getInt(i * width) : bytes.getLong(i * width);
            if (offset < before || offset > end) {
                throw new Malformed("buffer " + field[4] + ": " + outside(i, offset, before, end));
            }
            before = offset;
        }
        return stored;
    }

    /**
     * Checks that what passed through these codecs can be decoded, and that {@code stored} bytes can become as many.
     *
     * @throws IllegalArgumentException if it cannot be decoded
     * @throws Malformed if no valid data are as long
     */
    public static void check(List<String> codecs, long stored, long bytes) throws Malformed {
        for (String codec : codecs) {
            if (decoder(codec) == null) {
                throw new IllegalArgumentException("is encoded by " + codec + ", which cannot be decoded");
            }
            if (codec.equals("zstd")) {
                Zstandard.check();
            } else if (codec.equals("bz2") || codec.equals("lzma")) {
                Streamed.check(codec);
            }
        }
        double most = codecs.stream()
                .mapToDouble(codec -> MOST_RATIO.getOrDefault(name(codec), 1))
                .reduce(stored + 1.0, (a, b) -> a * b);
        if (!codecs.isEmpty() && bytes > most) {
            throw new Malformed(
                    "it must have " + bytes + " bytes once decoded, but has only " + stored + " by " + codecs);
        }
    }

    /** Returns the most memory that decoders of these codecs take beside so many bytes, which they become. */
    public static long memory(List<String> codecs, long bytes) {
        return codecs.stream()
                .mapToLong(codec -> Streamed.memory(codec, bytes + MOST_ADDED))
                .max()
                .orElse(0);
    }

    /** Returns what passed through these codecs, in their order, which must have {@code bytes} bytes. */
    public static byte[] decode(List<String> codecs, byte[] stored, int bytes) throws Malformed {
        byte[] decoded = stored;
        int added = MOST_ADDED;
        for (String codec : codecs) {
            added += codec.startsWith(HEADER) ? Integer.parseInt(codec.substring(HEADER.length())) : 0;
        }
        for (int i = codecs.size() - 1; i >= 0; i--) {
            Decoder decoder = decoder(codecs.get(i));
            if (decoder == null) {
                throw new IllegalStateException("not checked: " + codecs);
            }
            try {
                decoded = decoder.decode(decoded, i == 0 ? bytes : Math.addExact(bytes, added));
            } catch (Malformed e) {
                throw new Malformed(name(codecs.get(i)) + ": " + e.getMessage());
            }
        }
        if (decoded.length != bytes) {
            throw new Malformed("it must have " + bytes + " bytes once decoded, had " + decoded.length);
        }
        return decoded;
    }

    /** Returns what deflate, which must end with the stored bytes, has made of at most {@code mostBytes}. */
    static byte[] inflated(byte[] stored, boolean raw, int mostBytes) throws Malformed {
        Inflation out = new Inflation(stored, mostBytes);
        int end = out.inflate(0, raw, new CRC32());
        if (end < stored.length) {
            throw new Malformed((stored.length - end) + " bytes follow the end of the data");
        }
        return out.all();
    }

    /** What is inflated, of one stream or of several. */
    static final class Inflation {

        private final byte[] stored;
        private final byte[] bytes;
        private final String complaint; // about bytes that do not fit: inflated and forgotten if it is empty
        private final byte[] forgotten;
        private long count;

        Inflation(byte[] stored, int mostBytes) {
            this(stored, mostBytes, "there are more than " + mostBytes + " bytes");
        }

        Inflation(byte[] stored, int mostBytes, String complaint) {
            this.stored = stored;
            this.complaint = complaint;
            bytes = new byte[mostBytes];
            forgotten = new byte[complaint.isEmpty() ? MOST_ADDED : 1];
        }

        byte[] stored() {
            return stored;
        }

        long count() {
            return count;
        }

        byte[] all() {
            return count >= bytes.length ? bytes : Arrays.copyOf(bytes, (int) count);
        }

        /** Adds a stream, whose bytes {@code sum} takes, and returns where it ends. */
        int inflate(int start, boolean raw, CRC32 sum) throws Malformed {
            Inflater inflater = new Inflater(raw);
            try {
                inflater.setInput(stored, start, stored.length - start);
                while (!inflater.finished() && (count < bytes.length || complaint.isEmpty())) {
                    byte[] target = count < bytes.length ? bytes : forgotten;
                    int at = count < bytes.length ? (int) count : 0;
                    int inflated = inflater.inflate(target, at, target.length - at);
                    if (inflated == 0 && !inflater.finished()) {
                        throw new Malformed("the data end early");
                    }
                    sum.update(target, at, inflated);
                    count += inflated;
                }
                if (!inflater.finished() && inflater.inflate(forgotten) > 0) {
                    throw new Malformed(complaint);
                }
                if (!inflater.finished()) {
                    throw new Malformed("the data end early"); // a checksum is missing
                }
                return stored.length - inflater.getRemaining();
            } catch (DataFormatException e) {
                throw new Malformed(e.getMessage() == null ? "it is not deflate" : e.getMessage());
            } finally {
                inflater.end();
            }
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
