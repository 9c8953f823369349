// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.time.Duration;
import java.util.List;

/** The options that every backend has. */
public final class CommonOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** Where signals are delivered by default. */
    public enum Delivery {
        /** On {@link reactor.core.scheduler.Schedulers#parallel()}, or a thread like its own: {@link #POLL_MICROS}. */
        PARALLEL,
        /** On {@link reactor.core.scheduler.Schedulers#boundedElastic()}: subscribers may block. */
        ELASTIC,
        /** On the I/O queue that reaped the completion, which saves a hop; subscribers must not block. */
        DIRECT
    }

    /** Which threads deliver signals. */
    public static final Option<Delivery> DELIVERY = OPTIONS.add(
            Option.choice("penstock.delivery", Delivery.class, Delivery.PARALLEL, "which threads deliver signals"));

    /** How long {@code close()} waits for transfers in flight. */
    public static final Option<Duration> CLOSE_TIMEOUT = OPTIONS.add(Option.duration(
            "penstock.close-timeout",
            Duration.ofSeconds(10),
            Duration.ZERO,
            "how long close() waits for transfers in flight"));

    /** The most native commands in flight on one I/O queue. */
    public static final Option<Integer> QUEUE_DEPTH = OPTIONS.add(Option.integer(
            "penstock.queue.depth", 256, 1, 4096, "the most native commands in flight on one I/O queue"));

    /** The most bytes in flight on one I/O queue. */
    public static final Option<Long> QUEUE_BYTES = OPTIONS.add(Option.bytes(
            "penstock.queue.bytes", 128L << 20, 1L << 16, 1L << 40, "the most bytes in flight on one I/O queue"));

    /** The most bytes that one native command moves, unless the device requires less. */
    public static final Option<Long> SEGMENT_BYTES = OPTIONS.add(Option.bytes(
            "penstock.segment-bytes", 1L << 20, 4096, 1L << 30, "the most bytes that one native command moves"));

    /** How long threads poll before they sleep, while that pays off; for transfers that are awaited one by one. */
    public static final Option<Integer> POLL_MICROS = OPTIONS.add(Option.integer(
            "penstock.poll-micros",
            -1,
            -1,
            10_000,
            "for how many microseconds at most an I/O queue and a thread that delivers signals poll for their"
                    + " next work before they sleep, while it comes that soon and a few transfers at a time; saves"
                    + " wake-ups, and occupies processors; -1 for 200 where the process has 8 processors or more,"
                    + " and 0 elsewhere"));

    /** Whether returned memory is filled with 0xDB, so that a use after free shows. */
    public static final Option<Boolean> POISON =
            OPTIONS.add(Option.flag("penstock.poison", false, "fills released memory with 0xDB; for tests"));

    /** Whether a lease that becomes unreachable without being closed is reported, with the place where it was taken. */
    public static final Option<Boolean> LEAK_DETECTION = OPTIONS.add(Option.flag(
            "penstock.leak-detection",
            false,
            "logs leases that become unreachable before they are closed, with the place where they were taken"));

    /**
     * Whether the common mistakes are loud: {@link #POISON} and {@link #LEAK_DETECTION}; a callback that blocks a
     * delivery thread for 200 ms is reported with its stack trace; and what is refused since its file or buffer is
     * closed has where that was closed as its cause.
     */
    public static final Option<Boolean> DEBUG = OPTIONS.add(Option.flag(
            "penstock.debug",
            false,
            "switches penstock.poison and penstock.leak-detection on, reports callbacks that block a delivery thread,"
                    + " and where a file or a buffer was closed too early; for tests"));

    /** The most connections to one server. */
    public static final Option<Integer> REMOTE_CONNECTIONS = OPTIONS.add(Option.integer(
            "penstock.remote.connections",
            16,
            1,
            1024,
            "the most connections to one server that read at the same time"));

    /** How often a range of a file on another host is requested. */
    public static final Option<Integer> REMOTE_ATTEMPTS = OPTIONS.add(Option.integer(
            "penstock.remote.attempts",
            5,
            1,
            1000,
            "how often a range of a file on another host is requested, if connections fail or the host is busy"));

    /** How long another host may be silent. */
    public static final Option<Duration> REMOTE_TIMEOUT = OPTIONS.add(Option.duration(
            "penstock.remote.timeout",
            Duration.ofSeconds(30),
            Duration.ofMillis(1),
            "how long another host may be silent, before the connection counts as failed"));

    private CommonOptions() {}

    /** Returns all common options. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
