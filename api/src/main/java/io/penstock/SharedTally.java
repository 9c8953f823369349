// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The chunks of a member of a shared read, and what has arrived of them. Not thread-safe. */
final class SharedTally {

    private final Transfer read;
    private final List<Chunk> chunks;
    private final long[] bytes; // by pair
    private long copied;
    private @Nullable Completion lastRead;
    private long subscribedNanos;
    private long startedNanos = Long.MAX_VALUE;
    private long endedNanos;

    SharedTally(Transfer read, long chunkBytes) {
        this.read = read;
        this.chunks = chunks(read, chunkBytes);
        this.bytes = new long[read.pairs()];
    }

    /**
     * A part of the read.
     *
     * @param read the transfer of a member
     * @param pairs for each of its pairs, of which pair of the whole read it is a part
     */
    record Chunk(Transfer read, List<Integer> pairs) {

        static Chunk of(List<Transfer> parts, List<Integer> pairs) {
            return new Chunk(joined(parts), List.copyOf(pairs));
        }
    }

    /** Returns several transfers, at least one, as one. */
    static Transfer joined(List<Transfer> parts) {
        Transfer first = parts.get(0);
        return parts.size() == 1 ? first : first.and(parts.subList(1, parts.size()));
    }

    /** Cuts a read into chunks. */
    private static List<Chunk> chunks(Transfer read, long chunkBytes) {
        List<Chunk> chunks = new ArrayList<>();
        List<Transfer> parts = new ArrayList<>();
        List<Integer> pairs = new ArrayList<>();
        long room = chunkBytes;
        for (int pair = 0; pair < read.pairs(); pair++) {
            FileRegion from = read.fileRegion(pair);
            BufferRegion to = (BufferRegion) read.target(pair);
            for (long at = 0; at < from.length(); ) {
                long bytes = Math.min(room, from.length() - at);
                parts.add(Transfer.read(from.file().region(from.offset() + at, bytes), to.slice(at, bytes)));
                pairs.add(pair);
                at += bytes;
                room -= bytes;
                if (room == 0) {
                    chunks.add(Chunk.of(parts, pairs));
                    parts.clear();
                    pairs.clear();
                    room = chunkBytes;
                }
            }
        }
        if (!parts.isEmpty()) {
            chunks.add(Chunk.of(parts, pairs));
        } else if (chunks.isEmpty()) {
            chunks.add(new Chunk(read, List.of())); // an empty read
        }
        return chunks;
    }

    int chunks() {
        return chunks.size();
    }

    Chunk chunk(int number) {
        return chunks.get(number);
    }

    Transfer read() {
        return read;
    }

    void subscribed() {
        subscribedNanos = System.nanoTime();
    }

    /** Returns whether a chunk was not cut short by the end of the file. */
    static boolean isWhole(Completion completion) {
        return completion.bytes() == completion.transfer().length();
    }

    void arrived(int chunk, Completion completion, boolean byCopy) {
        List<Integer> pairs = chunks.get(chunk).pairs();
        for (int i = 0; i < pairs.size(); i++) {
            bytes[pairs.get(i)] += completion.bytes(i);
        }
        copied += byCopy ? completion.bytes() : 0;
        lastRead = byCopy && lastRead != null ? lastRead : completion;
        startedNanos = Math.min(startedNanos, completion.startedNanos());
        endedNanos = completion.endedNanos();
    }

    /** Returns the completion of a member that has all chunks. */
    Completion completion(String remark) {
        return new Shared(
                read,
                Arrays.stream(bytes).boxed().toList(),
                copied + " of " + Arrays.stream(bytes).sum() + " bytes were copied from buffers of other members"
                        + remark,
                Objects.requireNonNull(lastRead),
                subscribedNanos,
                startedNanos,
                endedNanos);
    }

    /** The completion of a member; {@code read} is of one of its reads, if it has made one. */
    private record Shared(
            Transfer transfer,
            List<Long> ofPairs,
            String summary,
            Completion read,
            long subscribedNanos,
            long startedNanos,
            long endedNanos)
            implements Completion {

        @Override
        public long bytes() {
            return ofPairs.stream().mapToLong(Long::longValue).sum();
        }

        @Override
        public long bytes(int pair) {
            return ofPairs.get(pair);
        }

        @Override
        public TransferPath path() {
            return read.path();
        }

        @Override
        public Evidence evidence() {
            return read.evidence();
        }

        @Override
        public String reason() {
            return summary + (read.reason().isEmpty() ? "" : "; " + read.reason());
        }

        @Override
        public String toString() {
            return transfer + ": " + bytes() + " bytes, " + path();
        }
    }
}
