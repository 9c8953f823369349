// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.util.ArrayList;
import java.util.List;

/**
 * How a volume is cut into slabs, so that the slabs in flight and what the visitor keeps fit a budget.
 *
 * @param depth how many slabs are leased at a time: the slab that is composed and slabs read ahead
 * @param slabs the slabs, in the order that the visitor requires
 */
public record SlabPlan(int depth, List<Range> slabs) {

    /**
     * Slices {@code from} to {@code to} and where they are in the file.
     *
     * @param from the first slice
     * @param to the slice behind the last
     * @param fileOffset of their first byte
     * @param bytes their length
     */
    public record Range(int from, int to, long fileOffset, long bytes) {}

    /**
     * Cuts a volume.
     *
     * @throws BadVolumeException if not even single slices fit
     */
    public static SlabPlan within(Budget budget, NiftiHeader header, SlabOrder visitor) throws BadVolumeException {
        for (int depth = budget.depth(); depth >= Budget.LEAST_DEPTH; depth--) {
            int slices = thickest(budget, depth, header, visitor);
            if (slices > 0) {
                return new SlabPlan(depth, cut(header, slices, visitor.descending()));
            }
        }
        throw new BadVolumeException("a budget of %d bytes is too small: a slice of this volume has %d bytes, and this "
                        .formatted(budget.bytes(), header.sliceBytes())
                + "view needs at least " + need(1, Budget.LEAST_DEPTH, header, visitor));
    }

    /** Returns the bytes of the thickest slab. */
    public long chunkBytes() {
        return slabs.stream().mapToLong(Range::bytes).max().orElseThrow();
    }

    private static int thickest(Budget budget, int depth, NiftiHeader header, SlabOrder visitor) {
        int fits = 0;
        int most = Math.min(header.slices(), visitor.mostSlices());
        long chunkBytes = Math.min(Math.max(header.sliceBytes(), budget.chunkBytes()), Integer.MAX_VALUE);
        int tooThick = (int) Math.min(most, chunkBytes / header.sliceBytes()) + 1;
        while (fits + 1 < tooThick) {
            int slices = (fits + tooThick) >>> 1;
            if (need(slices, depth, header, visitor) <= budget.bytes()) {
                fits = slices;
            } else {
                tooThick = slices;
            }
        }
        return fits;
    }

    private static long need(int slices, int depth, NiftiHeader header, SlabOrder visitor) {
        return (long) depth * slices * header.sliceBytes() + visitor.heldBytes(slices);
    }

    private static List<Range> cut(NiftiHeader header, int slices, boolean descending) {
        List<Range> slabs = new ArrayList<>();
        int count = (header.slices() + slices - 1) / slices;
        for (int i = 0; i < count; i++) {
            // Cut from the end that comes first, so that the first slab is as thick as any.
            int near = i * slices;
            int far = Math.min(near + slices, header.slices());
            int from = descending ? header.slices() - far : near;
            int to = descending ? header.slices() - near : far;
            long offset = header.voxelOffset() + from * header.sliceBytes();
            slabs.add(new Range(from, to, offset, (to - from) * header.sliceBytes()));
        }
        return List.copyOf(slabs);
    }
}
