// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.file;

import io.penstock.Option;
import java.util.List;

/** The options of host I/O, in addition to {@link io.penstock.CommonOptions}. */
public final class HostOptions {

    /** How host files are read and written. */
    public static final Option<HostIo> IO =
            Option.choice("penstock.host.io", HostIo.class, HostIo.AUTO, "how host files are read and written");

    /** How many I/O queues, with a ring each, host I/O has. */
    public static final Option<Integer> QUEUES = Option.integer(
            "penstock.host.queues", 0, 0, 64, "how many I/O queues host I/O has; 0 for one per 4 processors, 2 to 4");

    /** How many threads each I/O queue has for blocking calls. */
    public static final Option<Integer> THREADS = Option.integer(
            "penstock.host.threads",
            0,
            0,
            256,
            "how many threads an I/O queue has for blocking calls without io_uring; 0 for 2 per processor, at most 16");

    /** From how many bytes on kernel workers copy from and to the page cache. */
    public static final Option<Long> ASYNC_BYTES = Option.bytes(
            "penstock.host.async-bytes",
            64L << 10,
            8L << 10,
            1L << 40,
            "cached reads and writes of so many bytes are copied by kernel workers instead of the I/O queue");

    /** Whether files and memory that are used often are registered with io_uring. */
    public static final Option<Boolean> REGISTER =
            Option.flag("penstock.host.register", true, "whether files and memory in use are registered with io_uring");

    private HostOptions() {}

    /** Returns all host options. */
    public static List<Option<?>> all() {
        return List.of(IO, QUEUES, THREADS, ASYNC_BYTES, REGISTER);
    }
}
