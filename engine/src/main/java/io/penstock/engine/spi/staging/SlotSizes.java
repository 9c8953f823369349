// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.spi.Limits;

/**
 * How much memory one queue stages through, and how eagerly.
 *
 * @param slotBytes the bytes that a piece may have, a multiple of 4096
 * @param slotsPerFiller the slots that one filler keeps in use
 * @param fillers the fillers of the process; 0 leaves it to the number of processors
 * @param depth the requests that may be queued at once
 * @param spinNanos how long its threads look for what is to come before they sleep
 */
public record SlotSizes(long slotBytes, int slotsPerFiller, int fillers, int depth, long spinNanos) {

    static final long BLOCK_BYTES = 4096;

    /**
     * What a slot has beyond its piece. The blocks that cover an unaligned range reach one block further at each end;
     * a packed pair is read up to one block ahead of its place.
     */
    private static final long SLACK_BYTES = 4 * BLOCK_BYTES;

    /** More fillers gain one device little, unless it is asked for: 10 reach 52 of the 55 GB/s of 16 PCIe gen5 lanes. */
    static final int MOST_FILLERS_PER_QUEUE = 10;

    /** Makes sizes for threads that sleep at once. */
    public SlotSizes(long slotBytes, int slotsPerFiller, int fillers, int depth) {
        this(slotBytes, slotsPerFiller, fillers, depth, 0);
    }

    public SlotSizes {
        if (slotBytes < BLOCK_BYTES || slotBytes % BLOCK_BYTES != 0) {
            throw new IllegalArgumentException("slotBytes must be a multiple of " + BLOCK_BYTES + ", was " + slotBytes);
        }
        if (slotsPerFiller < 1 || fillers < 0 || depth < 1) {
            throw new IllegalArgumentException(
                    "slotsPerFiller and depth must be at least 1, and fillers at least 0, were " + slotsPerFiller + ", "
                            + depth + " and " + fillers);
        }
    }

    /** Returns what options say. */
    public static SlotSizes of(Options options) {
        return new SlotSizes(
                options.get(StagingOptions.SLOT_BYTES),
                options.get(StagingOptions.SLOTS_PER_FILLER),
                options.get(StagingOptions.FILLERS),
                options.get(CommonOptions.LANE_DEPTH),
                1000L * options.get(StagingOptions.SPIN_MICROS));
    }

    /** Returns the limits of a file: a piece and the blocks that cover it fit a slot, wherever it starts. */
    Limits limits(long blockBytes, boolean writable) {
        long fits = Math.min(slotBytes, allocatedBytes() - 3 * blockBytes);
        long whole = fits - fits % blockBytes;
        return new Limits(writable ? blockBytes : 1, 1, whole, whole, true);
    }

    long allocatedBytes() {
        return slotBytes + SLACK_BYTES;
    }

    int slots(int fillersAtHand) {
        return slotsPerFiller * (fillers != 0 ? fillersAtHand : Math.min(fillersAtHand, MOST_FILLERS_PER_QUEUE));
    }
}
