// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.Option;
import java.util.List;

/** The options of staging; backends that stage list them among their own. */
public final class StagingOptions {

    /** How many bytes a slot holds. */
    public static final Option<Long> SLOT_BYTES = Option.bytes(
            "penstock.staging.slot-bytes",
            4L << 20,
            SlotSizes.BLOCK_BYTES,
            1L << 30,
            "the bytes of one staging slot, a multiple of 4KiB");

    /** How many slots a filler keeps: while one is copied, the next is filled. */
    public static final Option<Integer> SLOTS_PER_FILLER =
            Option.integer("penstock.staging.slots-per-filler", 2, 1, 16, "the slots that one filler keeps in use");

    /** How many fillers the process has; 0 leaves it to the number of processors. */
    public static final Option<Integer> FILLERS = Option.integer(
            "penstock.staging.fillers",
            0,
            0,
            256,
            "the threads of the process that fill slots, for all devices together; 0 counts the processors");

    /** How long threads look for what is to come before they sleep; for those to whom microseconds matter. */
    public static final Option<Integer> SPIN_MICROS = Option.integer(
            "penstock.staging.spin-micros",
            0,
            0,
            1_000_000,
            "for how many microseconds a staging lane, one of its fillers, and whoever waits for a copy or a fence look"
                    + " again and again before they sleep: a wake-up less, a processor more");

    private StagingOptions() {}

    /** Returns all of them. */
    public static List<Option<?>> all() {
        return List.of(SLOT_BYTES, SLOTS_PER_FILLER, FILLERS, SPIN_MICROS);
    }
}
