// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What the elements of a chunk passed through before they were stored.
 *
 * @param byteOrder the byte order of the elements
 * @param order the order of a chunk's dimensions
 * @param compression the codecs from bytes to bytes, in the order of encoding
 * @param sharding the configuration of the sharding codec, or null if a chunk is a file
 */
record ZarrCodecs(
        ByteOrder byteOrder,
        Array.Order order,
        List<String> compression,
        @Nullable Map<String, Object> sharding) {

    private static final String SHARDING = "sharding_indexed";

    /** Returns those of an array of version 2: filters, and a compressor. */
    static ZarrCodecs v2(ZarrNode node) {
        List<String> codecs = new ArrayList<>();
        Object filters = node.members().get("filters");
        if (filters != null && filters != StrictJson.NULL) {
            for (Object filter : node.list(filters, "filters")) {
                codecs.add(node.text(node.map(filter, "a filter").get("id"), "the id of a filter"));
            }
        }
        Object compressor = node.members().get("compressor");
        if (compressor != null && compressor != StrictJson.NULL) {
            codecs.add(node.text(node.map(compressor, "compressor").get("id"), "the id of the compressor"));
        }
        String order = node.text(node.member("order"), "order");
        if (!order.equals("C") && !order.equals("F")) {
            throw node.malformed("order must be C or F, was " + order);
        }
        return new ZarrCodecs(
                NpyTypes.byteOrder(node.text(node.member("dtype"), "dtype")),
                order.equals("F") ? Array.Order.COLUMN_MAJOR : Array.Order.ROW_MAJOR,
                codecs,
                null);
    }

    /** Returns a chain of version 3: codecs of arrays, one from an array to bytes, codecs of bytes. */
    static ZarrCodecs v3(ZarrNode node, Object chain, ElementType type, int rank) throws ZarrNode.Unsupported {
        Array.Order order = Array.Order.ROW_MAJOR;
        ByteOrder byteOrder = null;
        Map<String, Object> sharding = null;
        List<String> compression = new ArrayList<>();
        for (Object entry : node.list(chain, "codecs")) {
            String name = name(node, entry);
            Map<String, Object> configuration = configuration(node, entry);
            if (byteOrder == null && name.equals("transpose")) {
                order = transposed(node, configuration, rank, order);
            } else if (byteOrder == null && name.equals("bytes")) {
                byteOrder = endian(node, configuration, type);
            } else if (byteOrder == null && name.equals(SHARDING)) {
                byteOrder = ByteOrder.LITTLE_ENDIAN;
                sharding = configuration;
            } else if (byteOrder == null) {
                throw node.unsupported("codec " + name + " is not supported");
            } else {
                compression.add(name);
            }
        }
        if (byteOrder == null) {
            throw node.malformed("codecs must have one from an array to bytes, such as bytes");
        }
        if (sharding != null && !(compression.isEmpty() && order == Array.Order.ROW_MAJOR)) {
            throw node.unsupported("codecs beside " + SHARDING + " are not supported");
        }
        return new ZarrCodecs(byteOrder, order, compression, sharding);
    }

    private static String name(ZarrNode node, Object codec) {
        return codec instanceof String text
                ? text
                : node.text(node.map(codec, "a codec").get("name"), "the name of a codec");
    }

    private static Map<String, Object> configuration(ZarrNode node, Object codec) {
        Object configuration =
                codec instanceof String ? null : node.map(codec, "a codec").get("configuration");
        return configuration == null ? Map.of() : node.map(configuration, "the configuration of a codec");
    }

    private static ByteOrder endian(ZarrNode node, Map<String, Object> configuration, ElementType type) {
        Object endian = configuration.get("endian");
        if (endian == null && type.blockBytes() > 1) {
            throw node.malformed("the codec bytes of " + type + " must have endian");
        }
        if (endian != null && !endian.equals("little") && !endian.equals("big")) {
            throw node.malformed("endian must be little or big, was " + endian);
        }
        return "big".equals(endian) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    }

    private static Array.Order transposed(
            ZarrNode node, Map<String, Object> configuration, int rank, Array.Order before)
            throws ZarrNode.Unsupported {
        List<Long> order = node.numbers(configuration.get("order"), 0, "the order of transpose");
        List<Long> same = LongStream.range(0, rank).boxed().toList();
        List<Long> reversed = new ArrayList<>(same);
        Collections.reverse(reversed);
        if (order.equals(same)) {
            return before;
        }
        if (!order.equals(reversed) || before != Array.Order.ROW_MAJOR) {
            throw node.unsupported("transpose to " + order + " is not supported, only the reverse order is");
        }
        return Array.Order.COLUMN_MAJOR;
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
