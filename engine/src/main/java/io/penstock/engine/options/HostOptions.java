// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.options;

import io.penstock.Option;
import java.util.List;

/** The options of host I/O, in addition to {@link io.penstock.CommonOptions}. */
public final class HostOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** How host files are read and written. */
    public static final Option<HostIo> IO = OPTIONS.add(
            Option.choice("penstock.host.io", HostIo.class, HostIo.AUTO, "how host files are read and written"));

    /** How many I/O queues, with a ring each, host I/O has. */
    public static final Option<Integer> QUEUES = OPTIONS.add(Option.integer(
            "penstock.host.queues", 0, 0, 64, "how many I/O queues host I/O has; 0 for one per 4 processors, 2 to 4"));

    /** How many threads each I/O queue has for blocking calls on one file system, and its ring for copies. */
    public static final Option<Integer> THREADS = OPTIONS.add(Option.integer(
            "penstock.host.threads",
            0,
            0,
            256,
            "how many blocking calls an I/O queue makes at once on files of one file system, and how many kernel"
                    + " workers a ring has; 0 for 2 per processor, at most 16, and 4 per processor"));

    /** From how many bytes on kernel workers copy from and to the page cache. */
    public static final Option<Long> ASYNC_BYTES = OPTIONS.add(Option.bytes(
            "penstock.host.async-bytes",
            64L << 10,
            8L << 10,
            1L << 40,
            "cached reads and writes of so many bytes are copied by kernel workers instead of the I/O queue"));

    /** Up to how many bytes a subscriber's thread reads from the page cache. */
    public static final Option<Long> CACHED_BYTES = OPTIONS.add(Option.bytes(
            "penstock.host.cached-bytes",
            16L << 10,
            0,
            64L << 10,
            "reads of so many bytes are made by the subscriber's thread if the page cache has them; 0 for none"));

    /** Whether files and memory that are used often are registered with io_uring. */
    public static final Option<Boolean> REGISTER = OPTIONS.add(Option.flag(
            "penstock.host.register", true, "whether files and memory in use are registered with io_uring"));

    private HostOptions() {}

    /** Returns all host options. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
