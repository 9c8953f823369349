// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.time.Duration;
import java.util.List;

/** The options that every backend has. */
public final class CommonOptions {

    /** Where signals are delivered when nothing else is said. */
    public enum Delivery {
        /** On {@link reactor.core.scheduler.Schedulers#parallel()}. */
        PARALLEL,
        /** On {@link reactor.core.scheduler.Schedulers#boundedElastic()}: subscribers may block. */
        ELASTIC,
        /** On the lane that saw the completion, which saves a hop; subscribers promise not to block. */
        DIRECT
    }

    /** Which threads signals come on. */
    public static final Option<Delivery> DELIVERY =
            Option.choice("penstock.delivery", Delivery.class, Delivery.PARALLEL, "which threads signals come on");

    /** How long {@code close()} waits for transfers in flight. */
    public static final Option<Duration> CLOSE_TIMEOUT = Option.duration(
            "penstock.close-timeout", Duration.ofSeconds(10), "how long close() waits for transfers in flight");

    /** The most native commands in flight on one lane. */
    public static final Option<Integer> LANE_DEPTH =
            Option.integer("penstock.lane.depth", 256, 1, 4096, "the most native commands in flight on one lane");

    /** The most bytes in flight on one lane. */
    public static final Option<Long> LANE_BYTES =
            Option.bytes("penstock.lane.bytes", 128L << 20, 1L << 16, 1L << 40, "the most bytes in flight on one lane");

    /** How many bytes one native command moves where the device does not ask for less. */
    public static final Option<Long> PIECE_BYTES = Option.bytes(
            "penstock.piece-bytes", 1L << 20, 4096, 1L << 30, "the most bytes that one native command moves");

    /** Whether memory that is given back is filled with 0xDB, so that a late reader sees it. */
    public static final Option<Boolean> POISON =
            Option.flag("penstock.poison", false, "fills memory that is given back with 0xDB; for tests");

    /** Whether a lease that is dropped unclosed is reported with the place where it was taken. */
    public static final Option<Boolean> LEAK_DETECTION = Option.flag(
            "penstock.leak-detection", false, "reports leases that are dropped unclosed, with where they were taken");

    private CommonOptions() {}

    /** Returns all of them. */
    public static List<Option<?>> all() {
        return List.of(DELIVERY, CLOSE_TIMEOUT, LANE_DEPTH, LANE_BYTES, PIECE_BYTES, POISON, LEAK_DETECTION);
    }
}
