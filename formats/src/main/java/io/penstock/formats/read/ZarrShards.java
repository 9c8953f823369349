// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ElementType;
import io.penstock.formats.Extent;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Files of several chunks, with an index of their places (Zarr v3, {@code sharding_indexed}).
 *
 * @param chunkShape the shape of a chunk
 * @param perShard how many chunks a shard has along each dimension
 * @param codecs the codecs of a chunk
 * @param atEnd whether the index is at the end of the file
 * @param sum whether a CRC-32C follows the index
 */
record ZarrShards(
        ZarrNode node, List<Long> chunkShape, List<Long> perShard, ZarrCodecs codecs, boolean atEnd, boolean sum) {

    private static final int ENTRY_BYTES = 2 * Long.BYTES; // offset, length
    private static final long MOST_CHUNKS = SafetensorsReader.MOST_HEADER_BYTES / ENTRY_BYTES; // of a shard

    static ZarrShards of(ZarrNode node, ElementType type, List<Long> shardShape, Map<String, Object> configuration)
            throws ZarrNode.Unsupported {
        List<Long> chunks = node.numbers(configuration.get("chunk_shape"), 1, "chunk_shape of shards");
        if (chunks.size() != shardShape.size()) {
            throw node.malformed("chunks of shape " + chunks + " must have the dimensions of shards, " + shardShape);
        }
        List<Long> perShard = new ArrayList<>();
        long count = 1;
        for (int i = 0; i < chunks.size(); i++) {
            if (shardShape.get(i) % chunks.get(i) != 0) {
                throw node.malformed("shards of " + shardShape + " are not whole chunks of " + chunks);
            }
            perShard.add(shardShape.get(i) / chunks.get(i));
            if (perShard.get(i) > MOST_CHUNKS / count) {
                throw node.malformed(
                        "shards of " + shardShape + " have more chunks of " + chunks + " than " + MOST_CHUNKS);
            }
            count *= perShard.get(i);
        }
        Object location = configuration.getOrDefault("index_location", "end");
        if (!location.equals("end") && !location.equals("start")) {
            throw node.malformed("index_location must be start or end, was " + location);
        }
        ZarrCodecs codecs = ZarrCodecs.v3(node, configuration.getOrDefault("codecs", "none"), type, chunks.size());
        if (codecs.sharding() != null) {
            throw node.unsupported("shards in shards are not supported");
        }
        boolean sum = ZarrCodecs.indexHasSum(node, configuration.getOrDefault("index_codecs", "none"));
        return new ZarrShards(node, chunks, perShard, codecs, location.equals("end"), sum);
    }

    /** Returns the chunks that a shard has. */
    List<Array.ChunkData> chunks(Array.ChunkData shard) throws IOException {
        int count = 1;
        for (long chunks : perShard) {
            count *= (int) chunks;
        }
        ByteBuffer index = index(shard.extent(), count * ENTRY_BYTES);
        long indexBytes = (long) count * ENTRY_BYTES + (sum ? Integer.BYTES : 0);
        long first = atEnd ? 0 : indexBytes;
        long end = shard.extent().length() - (atEnd ? indexBytes : 0);
        List<Array.ChunkData> chunks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long offset = index.getLong();
            long length = index.getLong();
            if (offset == -1 && length == -1) {
                continue; // no such chunk
            }
            if (offset < first || length < 0 || length > end - offset) {
                throw new MalformedFileException(
                        shard.extent().file(),
                        ZarrNode.FORMAT,
                        "chunk " + i + " of the shard takes " + Long.toUnsignedString(length) + " bytes at "
                                + Long.toUnsignedString(offset) + ", but its index leaves those from " + first + " to "
                                + end);
            }
            chunks.add(new Array.ChunkData(
                    position(shard.position(), i),
                    new Extent(shard.extent().file(), offset, length),
                    codecs.compression()));
        }
        checkOverlaps(chunks);
        return chunks;
    }

    /** Chunks of equal contents may be stored once; chunks that share a part of their bytes cannot be meant. */
    private static void checkOverlaps(List<Array.ChunkData> chunks) {
        List<Extent> extents = new ArrayList<>(chunks.stream()
                .map(Array.ChunkData::extent)
                .filter(extent -> extent.length() > 0)
                .distinct()
                .toList());
        extents.sort(Comparator.comparingLong(Extent::offset));
        for (int i = 1; i < extents.size(); i++) {
            if (extents.get(i).offset() < extents.get(i - 1).end()) {
                throw new MalformedFileException(
                        extents.get(i).file(),
                        ZarrNode.FORMAT,
                        "chunks of the shard overlap: one starts at "
                                + extents.get(i).offset() + ", another ends at "
                                + extents.get(i - 1).end());
            }
        }
    }

    private List<Long> position(List<Long> shard, int number) {
        List<Long> position = new ArrayList<>(shard);
        long rest = number;
        for (int i = perShard.size() - 1; i >= 0; i--) {
            position.set(i, Math.addExact(Math.multiplyExact(shard.get(i), perShard.get(i)), rest % perShard.get(i)));
            rest /= perShard.get(i);
        }
        return position;
    }

    private ByteBuffer index(Extent shard, int indexBytes) throws IOException {
        int total = indexBytes + (sum ? Integer.BYTES : 0);
        try (HeaderBytes bytes = new HeaderBytes(shard.file(), ZarrNode.FORMAT)) {
            if (atEnd) {
                bytes.seek(bytes.length() - total, "the index of the shard");
            }
            ByteBuffer index = ByteBuffer.wrap(bytes.bytes(total, "the index of the shard"))
                    .order(ByteOrder.LITTLE_ENDIAN);
            CRC32C crc = new CRC32C();
            crc.update(index.array(), 0, indexBytes);
            if (sum && index.getInt(indexBytes) != (int) crc.getValue()) {
                throw bytes.malformed("the CRC-32C of the shard's index must be %08x, was %08x"
                        .formatted(index.getInt(indexBytes), crc.getValue()));
            }
            return index.limit(indexBytes);
        }
    }
}
