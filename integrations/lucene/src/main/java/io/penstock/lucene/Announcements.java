// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.HostView;
import io.penstock.Transfer;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What one thread has announced of the files of one directory and not yet read. It belongs to the thread and not to an
 * input, since Lucene announces on one clone of an input and reads from another. All that is pending is submitted at the
 * first read of any of it: one gather for each file and length of blocks.
 *
 * <p><b>Ownership:</b> the memory of a batch is freed when its last block was read or given up. {@link Memory} frees the
 * rest when the thread has ended or the directory is closed.
 */
final class Announcements {

    static final int LEAST = 512; // bytes; shorter ones are hints for a page
    static final int MOST = 64 << 10; // longer ones are hints for a file

    /** The memory of all batches; refers to nothing from which {@link Announcements} is reachable. */
    static final class Memory {
        private final Set<DeviceBuffer> buffers = ConcurrentHashMap.newKeySet();
        private volatile boolean closed;

        void add(DeviceBuffer buffer) {
            buffers.add(buffer);
            if (closed) {
                free(buffer);
            }
        }

        void free(DeviceBuffer buffer) {
            buffers.remove(buffer);
            buffer.close();
        }

        /** Frees all of it; any thread, more than once. */
        void close() {
            closed = true;
            buffers.forEach(this::free);
        }
    }

    /** The blocks that were submitted together. */
    private static final class Batch {
        final DeviceBuffer buffer;
        final HostView view;
        int left; // neither read nor given up

        Batch(DeviceBuffer buffer, int blocks) {
            this.buffer = buffer;
            this.view = buffer.hostView().orElseThrow();
            this.left = blocks;
        }
    }

    /** Bytes of a file: what was announced, rounded to blocks. */
    private static final class Block {
        final VectorFile file;
        final long start;
        final int length;
        long announcedEnd;
        boolean ended; // read or given up

        // From its submission on.
        @Nullable
        Batch batch;

        @Nullable
        CompletableFuture<@Nullable Completion> gather;

        long gathered; // bytes of the whole gather
        int at; // in the memory of the batch

        Block(VectorFile file, long start, int length, long announcedEnd) {
            this.file = file;
            this.start = start;
            this.length = length;
            this.announcedEnd = announcedEnd;
        }

        boolean holds(long from, int bytes) {
            return from >= start && from + bytes <= start + length;
        }
    }

    private final PenstockDirectory directory;
    private final Memory memory;
    private final Map<VectorFile, TreeMap<Long, Block>> byFile = new HashMap<>();
    private final ArrayDeque<Block> inOrder = new ArrayDeque<>(); // may begin with ended ones
    private final List<Block> pending = new ArrayList<>();
    private long bytes; // of all that have not ended
    private ByteBuffer scratch = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
    private boolean recording;
    boolean recorded; // a read, since it was asked for
    boolean full; // one more would have given up others
    private int sweepAt = 64;

    Announcements(PenstockDirectory directory, Memory memory) {
        this.directory = directory;
        this.memory = memory;
    }

    /** Returns memory of the heap for this thread's next read: little-endian, {@code bytes} remaining. */
    ByteBuffer scratch(int bytes) {
        if (scratch.capacity() < bytes) {
            scratch = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        }
        return scratch.clear().limit(bytes);
    }

    /** While true, reads of this thread are announced in place of being read. */
    void recording(boolean now) {
        recording = now;
        recorded = false;
        full = false;
    }

    /** Returns whether a read was announced in its place. */
    boolean records(VectorFile file, long from, int count) {
        if (recording) {
            recorded = true;
            add(file, from, count);
        }
        return recording;
    }

    /** Returns how many bytes are announced and have not been read. */
    long bytes() {
        return bytes;
    }

    /** Announces bytes; gives up the oldest ones beyond the bound, or, while recording, announces none beyond it. */
    void add(VectorFile file, long from, int count) {
        if (memory.closed || file.closed) {
            return;
        }
        long start = from / file.block * file.block;
        // As long for every vector of a field, wherever it begins in its block: a gather has blocks of one length.
        long end = Math.min(file.length, start + (count - 1L + 2L * file.block - 1) / file.block * file.block);
        TreeMap<Long, Block> blocks = byFile.computeIfAbsent(file, any -> new TreeMap<>());
        Block before = blocks.get(start);
        if (before != null && (before.holds(from, count) || before.batch != null)) {
            before.announcedEnd = Math.max(before.announcedEnd, from + count);
            return;
        }
        if (recording && bytes + end - start > directory.announcedBytes) {
            full = true;
            return;
        }
        if (before != null) {
            end(before); // the longer one has its bytes too
        }
        Block block = new Block(file, start, (int) (end - start), from + count);
        byFile.computeIfAbsent(file, any -> new TreeMap<>()).put(start, block);
        inOrder.add(block);
        pending.add(block);
        bytes += block.length;
        while (bytes > directory.announcedBytes) {
            giveUp(inOrder.remove());
        }
        if (Math.max(inOrder.size(), pending.size()) > sweepAt) {
            sweep();
        }
    }

    /** Gives up what belongs to closed files, and drops what has ended: one that nobody reads keeps those behind it. */
    private void sweep() {
        for (Block block : List.copyOf(inOrder)) {
            if (block.file.closed) {
                giveUp(block);
            }
        }
        inOrder.removeIf(old -> old.ended);
        pending.removeIf(old -> old.ended);
        sweepAt = 2 * inOrder.size() + 64;
    }

    private void giveUp(Block block) {
        if (!block.ended) {
            directory.givenUp.increment();
            end(block);
        }
    }

    /**
     * Fills {@code target} from an announced block, for which it waits.
     *
     * @return false if the bytes were not announced; nothing was read then
     */
    boolean read(VectorFile file, long from, ByteBuffer target) throws IOException {
        TreeMap<Long, Block> blocks = byFile.get(file);
        if (blocks == null) {
            return false;
        }
        Map.Entry<Long, Block> entry = blocks.floorEntry(from);
        if (entry == null || !entry.getValue().holds(from, target.remaining())) {
            return false;
        }
        Block block = entry.getValue();
        if (block.batch == null) {
            submit();
        }
        if (block.ended) {
            return false; // its file was closed meanwhile
        }
        boolean last = from + target.remaining() >= block.announcedEnd;
        CompletableFuture<@Nullable Completion> gather = Objects.requireNonNull(block.gather);
        try {
            if (Waiting.await(gather, file).bytes() < block.gathered) {
                throw new EOFException(file + " has ended, had " + file.length + " bytes when it was opened");
            }
        } catch (IOException e) {
            if (gather.isDone()) { // else this thread was interrupted
                List.copyOf(blocks.values()).stream()
                        .filter(other -> other.gather == gather)
                        .forEach(this::end);
            }
            throw e;
        }
        Objects.requireNonNull(block.batch).view.read(block.at + from - block.start, target);
        if (last) {
            end(block);
        }
        return true;
    }

    /** Gives up all that has not been read. */
    void forget() {
        for (Block block = inOrder.poll(); block != null; block = inOrder.poll()) {
            giveUp(block);
        }
        pending.clear();
    }

    private void end(Block block) {
        block.ended = true;
        bytes -= block.length;
        TreeMap<Long, Block> blocks = byFile.get(block.file);
        if (blocks != null && blocks.remove(block.start, block) && blocks.isEmpty()) {
            byFile.remove(block.file);
        }
        Batch batch = block.batch;
        if (batch != null && --batch.left == 0) {
            memory.free(batch.buffer);
        }
        while (!inOrder.isEmpty() && inOrder.element().ended) {
            inOrder.remove();
        }
    }

    private void submit() throws IOException {
        sweep();
        long total = 0;
        Map<VectorFile, Map<Integer, List<Block>>> groups = new HashMap<>();
        for (Block block : pending) {
            total += block.length;
            groups.computeIfAbsent(block.file, any -> new TreeMap<>())
                    .computeIfAbsent(block.length, any -> new ArrayList<>())
                    .add(block);
        }
        if (total == 0) {
            return;
        }
        DeviceBuffer buffer =
                Waiting.allocate(directory.backend, total, "the memory of " + pending.size() + " vectors");
        memory.add(buffer);
        Batch batch = new Batch(buffer, pending.size());
        List<Block> submitted = List.copyOf(pending);
        pending.clear();
        submitted.forEach(block -> block.batch = batch);
        int at = 0;
        try {
            for (Map<Integer, List<Block>> ofFile : groups.values()) {
                for (List<Block> blocks : ofFile.values()) {
                    gather(blocks, batch, at);
                    at += blocks.size() * blocks.get(0).length;
                }
            }
        } catch (RuntimeException e) { // nobody waits for the others of the batch
            submitted.forEach(this::end);
            throw e;
        }
    }

    private void gather(List<Block> blocks, Batch batch, int at) {
        Block first = blocks.get(0);
        long[] offsets = new long[blocks.size()];
        long all = (long) offsets.length * first.length;
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = blocks.get(i).start;
        }
        CompletableFuture<@Nullable Completion> gather = Waiting.submit(
                directory.backend,
                Transfer.gather(first.file.file, offsets, first.length, batch.buffer.region(at, all)));
        for (int i = 0; i < offsets.length; i++) {
            Block block = blocks.get(i);
            block.gather = gather;
            block.gathered = all;
            block.at = at + i * block.length;
        }
        directory.gathers.increment();
        directory.gathered.add(offsets.length);
    }
}
