// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ElementType;
import io.penstock.formats.codec.Codecs;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What the elements of a chunk passed through before they were stored.
 *
 * @param byteOrder the byte order of the elements
 * @param dimensions the dimensions in a chunk, slowest varying first
 * @param compression the codecs from bytes to bytes, in the order of encoding
 * @param sharding the configuration of the sharding codec, or null if a chunk is a file
 */
record ZarrCodecs(
        ByteOrder byteOrder,
        List<Integer> dimensions,
        List<String> compression,
        @Nullable Map<String, Object> sharding) {

    private static final String NUMCODECS = "numcodecs.";
    private static final long MOST_ELEMENT_BYTES = 1 << 16;
    private static final long RAW = 3; // LZMA without a header, of Python's module lzma
    private static final String SHARDING = "sharding_indexed";
    private static final Set<String> BLOSC = Set.of("lz4", "lz4hc", "zlib", "zstd"); // its compressors that are decoded

    private static List<Integer> rowMajor(int rank) {
        return IntStream.range(0, rank).boxed().toList();
    }

    private static List<Integer> columnMajor(int rank) {
        List<Integer> reversed = new ArrayList<>(rowMajor(rank));
        Collections.reverse(reversed);
        return reversed;
    }

    /** Returns the order of the array: row-major, unless its chunks are column-major. */
    Array.Order order() {
        int rank = dimensions.size();
        return dimensions.equals(columnMajor(rank)) && rank > 1 ? Array.Order.COLUMN_MAJOR : Array.Order.ROW_MAJOR;
    }

    /** Returns whether the chunks have the dimensions in another order than the array. */
    boolean isPermuted() {
        return !dimensions.equals(rowMajor(dimensions.size())) && order() == Array.Order.ROW_MAJOR;
    }

    /** Returns the codecs of an array of version 2: filters, and a compressor. */
    static ZarrCodecs v2(ZarrNode node, int rank) {
        List<String> codecs = new ArrayList<>();
        Object filters = node.members().get("filters");
        if (filters != null && filters != StrictJson.NULL) {
            for (Object filter : node.list(filters, "filters")) {
                Map<String, Object> configuration = node.map(filter, "a filter");
                add(codecs, node.text(configuration.get("id"), "the id of a filter"), configuration);
            }
        }
        Object compressor = node.members().get("compressor");
        if (compressor != null && compressor != StrictJson.NULL) {
            Map<String, Object> configuration = node.map(compressor, "compressor");
            add(codecs, node.text(configuration.get("id"), "the id of the compressor"), configuration);
        }
        String order = node.text(node.member("order"), "order");
        if (!order.equals("C") && !order.equals("F")) {
            throw node.malformed("order must be C or F, was " + order);
        }
        return new ZarrCodecs(
                NpyTypes.byteOrder(node.text(node.member("dtype"), "dtype")),
                order.equals("F") ? columnMajor(rank) : rowMajor(rank),
                codecs,
                null);
    }

    /** Adds a codec, unless the elements are themselves once they are encoded, by numcodecs. */
    private static void add(List<String> codecs, String name, Map<String, Object> configuration) {
        if (!isLossy(name, configuration)) {
            codecs.add(named(name, configuration));
        }
    }

    /** Returns whether a filter has rounded the elements, which it does not undo. */
    private static boolean isLossy(String name, Map<String, Object> configuration) {
        Object type = configuration.get("dtype");
        return own(name).equals("bitround")
                || own(name).equals("quantize")
                        && type != null
                        && type.equals(configuration.getOrDefault("astype", type));
    }

    /** Returns the name of a codec without what zarr-python 3 writes before it. */
    private static String own(String name) {
        return name.startsWith(NUMCODECS) ? name.substring(NUMCODECS.length()) : name;
    }

    /** Returns the name of a codec, with what of it cannot be decoded, where a chunk would tell it late or never. */
    private static String named(String name, Map<String, Object> configuration) {
        String own = own(name);
        if (own.equals("shuffle")
                && configuration.getOrDefault("elementsize", 4L) instanceof Long size
                && size > 0
                && size <= MOST_ELEMENT_BYTES) {
            return Codecs.shuffle(size);
        }
        if (own.equals("delta") && configuration.get("dtype") instanceof String type) {
            String delta = Codecs.delta(type, String.valueOf(configuration.getOrDefault("astype", type)));
            return delta == null ? name + " (" + type + ")" : delta;
        }
        if (own.equals("lzma") && Long.valueOf(RAW).equals(configuration.get("format"))) {
            return name + " (raw)";
        }
        if (own.equals("crc32c") && "start".equals(configuration.get("location"))) {
            return name + " (at the start)";
        }
        boolean undone = own.equals("blosc") && configuration.get("cname") instanceof String by && !BLOSC.contains(by);
        return undone ? name + " (" + configuration.get("cname") + ")" : Codecs.foreign(name, own);
    }

    /** Returns a chain of version 3: codecs of arrays, one from an array to bytes, codecs of bytes. */
    static ZarrCodecs v3(ZarrNode node, Object chain, ElementType type, int rank) throws ZarrNode.Unsupported {
        List<Integer> dimensions = rowMajor(rank);
        ByteOrder byteOrder = null;
        boolean isDelta = false;
        Map<String, Object> sharding = null;
        List<String> compression = new ArrayList<>();
        for (Object entry : node.list(chain, "codecs")) {
            String name = node.extension(entry, "a codec");
            Map<String, Object> configuration = node.configuration(entry, "a codec");
            if (byteOrder == null && name.equals("transpose") && !isDelta) {
                dimensions = transposed(node, configuration, dimensions);
            } else if (byteOrder == null && name.equals("bytes")) {
                byteOrder = endian(node, configuration, type);
            } else if (byteOrder == null && own(name).equals("delta") && !isDelta && isPlain(configuration, type)) {
                isDelta = true;
            } else if (byteOrder == null && name.equals(SHARDING) && !isDelta) {
                byteOrder = ByteOrder.LITTLE_ENDIAN;
                sharding = configuration;
            } else if (byteOrder != null) {
                add(compression, name, configuration);
            } else if (!isLossy(name, configuration)) {
                throw node.unsupported("codec " + name + " is not supported");
            }
        }
        if (byteOrder == null) {
            throw node.malformed("codecs must have one from an array to bytes, such as bytes");
        }
        if (isDelta) {
            String order = byteOrder == ByteOrder.BIG_ENDIAN ? ">" : "<";
            String delta = Codecs.delta(order + NpyTypes.code(type), order + NpyTypes.code(type));
            if (delta == null) {
                throw node.unsupported("codec delta of " + type + " is not supported");
            }
            compression.add(0, delta);
        }
        if (sharding != null && !(compression.isEmpty() && dimensions.equals(rowMajor(rank)))) {
            throw node.unsupported("codecs beside " + SHARDING + " are not supported");
        }
        return new ZarrCodecs(byteOrder, dimensions, compression, sharding);
    }

    /** Returns whether numbers and their differences have the type of the array. */
    private static boolean isPlain(Map<String, Object> configuration, ElementType type) {
        Object own = configuration.get("dtype");
        try {
            return own == null
                    || own instanceof String text
                            && own.equals(configuration.getOrDefault("astype", own))
                            && NpyTypes.type(text).equals(type);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static ByteOrder endian(ZarrNode node, Map<String, Object> configuration, ElementType type) {
        Object endian = configuration.get("endian");
        if (endian == null && type.blockBytes() > 1 && !type.name().matches("[SV]\\d+")) {
            throw node.malformed("the codec bytes of " + type + " must have endian");
        }
        if (endian != null && !endian.equals("little") && !endian.equals("big")) {
            throw node.malformed("endian must be little or big, was " + endian);
        }
        return "big".equals(endian) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    }

    /** Returns the dimensions after the codec {@code transpose}: its order has the number of each before it. */
    private static List<Integer> transposed(
            ZarrNode node, Map<String, Object> configuration, List<Integer> dimensions) {
        List<Long> order = node.numbers(configuration.get("order"), 0, "the order of transpose");
        int rank = dimensions.size();
        if (!order.stream()
                .sorted()
                .toList()
                .equals(LongStream.range(0, rank).boxed().toList())) {
            throw node.malformed("the order of transpose must have each of " + rank + " dimensions once, was " + order);
        }
        return order.stream().map(number -> dimensions.get(number.intValue())).toList();
    }

    /** Returns whether the sum of the index follows it, after checking that its codecs are the usual ones. */
    static boolean indexHasSum(ZarrNode node, Object chain) throws ZarrNode.Unsupported {
        ZarrCodecs codecs = v3(node, chain, ElementType.U64, 1);
        boolean sum = codecs.compression.equals(List.of("crc32c"));
        if (codecs.byteOrder != ByteOrder.LITTLE_ENDIAN || !(sum || codecs.compression.isEmpty())) {
            throw node.unsupported("index_codecs must be bytes, little-endian, and crc32c, were " + chain);
        }
        return sum;
    }
}
