// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a load would do: which arrays go where in which buffers, and by how many transfers. Immutable; nothing has been
 * opened or allocated.
 */
public final class LoadPlan {

    /**
     * An array, or a slice of it, and its place in device memory.
     *
     * @param array the array as its file describes it
     * @param shape the shape of what is loaded: that of the array, or of the slice
     * @param blocks the bytes of the file
     * @param buffer the number of the buffer, from 0
     * @param offset the offset in that buffer, a multiple of {@link Loader#ALIGNMENT}
     */
    public record Placement(Array array, List<Long> shape, FileBlocks blocks, int buffer, long offset) {
        /** Copies the list. */
        public Placement {
            shape = List.copyOf(shape);
        }

        /** Returns the bytes that are loaded. */
        public long bytes() {
            return blocks.bytes();
        }
    }

    private final List<Placement> placements;
    private final List<Long> buffers;
    private final Map<Path, List<Batch>> batches;

    private LoadPlan(List<Placement> placements, List<Long> buffers, Map<Path, List<Batch>> batches) {
        this.placements = placements;
        this.buffers = buffers;
        this.batches = batches;
    }

    /**
     * Places arrays.
     *
     * @param oneBuffer whether all are placed in one buffer, in the order of their files; else each has its own
     */
    static LoadPlan of(List<Placement> wanted, boolean oneBuffer, long transferBytes) {
        List<Placement> sorted = new ArrayList<>(wanted);
        Map<Path, Integer> files = new LinkedHashMap<>();
        wanted.forEach(placement -> files.putIfAbsent(placement.blocks().file(), files.size()));
        sorted.sort(Comparator.<Placement>comparingInt(
                        placement -> files.getOrDefault(placement.blocks().file(), 0))
                .thenComparingLong(placement -> placement.blocks().offset()));
        List<Placement> placed = new ArrayList<>();
        List<Long> buffers = new ArrayList<>();
        long end = 0;
        for (Placement placement : sorted) {
            long offset = oneBuffer ? aligned(end) : 0;
            int buffer = oneBuffer ? 0 : buffers.size();
            placed.add(new Placement(placement.array(), placement.shape(), placement.blocks(), buffer, offset));
            end = Math.addExact(offset, placement.bytes());
            if (!oneBuffer) {
                buffers.add(end);
            }
        }
        if (oneBuffer && !placed.isEmpty()) {
            buffers.add(end);
        }
        return new LoadPlan(List.copyOf(placed), List.copyOf(buffers), Batch.of(placed, transferBytes));
    }

    private static long aligned(long offset) {
        return Math.addExact(offset, Loader.ALIGNMENT - 1) / Loader.ALIGNMENT * Loader.ALIGNMENT;
    }

    /** Returns the arrays, in the order in which they lie in their files. */
    public List<Placement> arrays() {
        return placements;
    }

    /** Returns the bytes of each buffer that would be allocated. */
    public List<Long> buffers() {
        return buffers;
    }

    /** Returns the bytes of the arrays. */
    public long bytes() {
        return placements.stream().mapToLong(Placement::bytes).sum();
    }

    /** Returns the bytes of device memory: those of the arrays, and of the gaps that align them. */
    public long deviceBytes() {
        return buffers.stream().reduce(0L, Math::addExact);
    }

    /** Returns the number of transfers. */
    public int transfers() {
        return batches.values().stream().mapToInt(List::size).sum();
    }

    /** Returns the transfers by file. */
    Map<Path, List<Batch>> batches() {
        return batches;
    }

    /** Returns the bytes that the transfers move: those of the arrays, and of gaps that are read with them. */
    long transferBytes() {
        return batches.values().stream()
                .flatMap(List::stream)
                .mapToLong(Batch::bytes)
                .sum();
    }

    /** Returns a line such as {@code 180 arrays, 8723456000 bytes, in 1 buffer of ...; 130 transfers from 2 files}. */
    @Override
    public String toString() {
        long pieces = batches.values().stream()
                .flatMap(List::stream)
                .mapToLong(batch -> batch.pieces().size())
                .sum();
        return String.format(
                Locale.ROOT,
                "%d arrays of %d bytes, in %d buffers of %d bytes; %d transfers of %d pieces, from %d files",
                placements.size(),
                bytes(),
                buffers.size(),
                deviceBytes(),
                transfers(),
                pieces,
                batches.size());
    }
}
