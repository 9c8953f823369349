// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.kit.Pause;
import java.util.List;
import java.util.stream.Stream;

/** The options of staging; backends that stage include them in their options. */
public final class StagingOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** Staging buffers begin at multiples of it, and have a multiple of it. */
    public static final long BLOCK_BYTES = 4096;

    /**
     * How many bytes a staging buffer holds. One GPU is fed slightly faster by 4 MiB ({@link #ofOnlyDevice}), two by
     * far faster by 2 MiB: then those in use stay within the processor's caches (docs/results/h200.md).
     */
    public static final Option<Long> BUFFER_BYTES = OPTIONS.add(Option.bytes(
            "penstock.staging.buffer-bytes",
            2L << 20,
            BLOCK_BYTES,
            1L << 30,
            "the bytes of one staging buffer, a multiple of 4KiB; unless it is set, a backend may take 4MiB"
                    + " for the only GPU"));

    /** How many staging buffers a staging worker keeps: while some are copied, the next is filled. */
    public static final Option<Integer> BUFFERS_PER_WORKER = OPTIONS.add(Option.integer(
            "penstock.staging.buffers-per-worker",
            3,
            1,
            16,
            "the staging buffers that one staging worker keeps in use; unless it is set, a backend may take 2"
                    + " for the only GPU"));

    /** How many staging workers the process has; 0 derives it from the numbers of processors and devices. */
    public static final Option<Integer> WORKERS = OPTIONS.add(Option.integer(
            "penstock.staging.workers",
            0,
            0,
            256,
            "how many threads of the process fill staging buffers, for all devices together; 0 for a number that suits"
                    + " the processors and the devices in use"));

    /** How long threads poll before they sleep; for applications to which microseconds matter. */
    public static final Option<Integer> SPIN_MICROS = OPTIONS.add(Option.integer(
            "penstock.staging.spin-micros",
            -1,
            -1,
            1_000_000,
            "for how many microseconds the I/O queue of a staged path, one of its staging workers, and a wait for a"
                    + " copy or a fence poll before they sleep; saves a wake-up, and occupies a processor; -1 for 200"
                    + " where the process has 8 processors or more, and 0 elsewhere, by an I/O queue only while it has a"
                    + " few requests"));

    /** Whether the processors near a device serve it. */
    public static final Option<Boolean> NUMA = OPTIONS.add(Option.flag(
            "penstock.staging.numa",
            true,
            "whether staging workers run on the processors of the device's NUMA node, and staging buffers lie there,"
                    + " if the system tells the node"));

    private StagingOptions() {}

    /**
     * Returns the options of a path whose device is the only one: two staging buffers of 4 MiB for each worker, unless
     * {@link #BUFFER_BYTES} or {@link #BUFFERS_PER_WORKER} is set. The link is idle for a moment behind each copy, so
     * fewer and larger ones use it better; and the memory of the machine, for which 2 MiB are better, is not what
     * limits one device.
     */
    public static Options ofOnlyDevice(Options options) {
        boolean isSet = Stream.of(BUFFER_BYTES, BUFFERS_PER_WORKER)
                .anyMatch(option -> !options.source(option).equals("default"));
        return isSet ? options : options.with(BUFFER_BYTES, 4L << 20).with(BUFFERS_PER_WORKER, 2);
    }

    /** Returns {@link #SPIN_MICROS} in nanoseconds. */
    public static long spinNanos(Options options) {
        return Pause.pollNanos(options.get(SPIN_MICROS));
    }

    /** As above, but 0 unless the option is set: for threads that others of the device may wait for. */
    public static long explicitSpinNanos(Options options) {
        return 1000L * Math.max(0, options.get(SPIN_MICROS));
    }

    /** Returns all staging options. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
