// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.Option;
import java.time.Duration;
import java.util.List;

/** The options of the backend {@code nvme}, in addition to {@link io.penstock.CommonOptions}. */
public final class NvmeOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** The controller; the paths of files repeat its address. */
    public static final Option<String> DEVICE = OPTIONS.add(Option.text(
            "penstock.nvme.device",
            "",
            "the PCI address of the controller, such as 0000:04:00.0; files are named by it too:"
                    + " 0000:04:00.0/1 is namespace 1"));

    /** Whether files may be opened for writing. */
    public static final Option<Boolean> WRITE = OPTIONS.add(Option.flag(
            "penstock.nvme.write",
            false,
            "whether the blocks of the controller may be written; no file system protects them"));

    /** How long a command may take. */
    public static final Option<Duration> TIMEOUT = OPTIONS.add(Option.duration(
            "penstock.nvme.timeout",
            Duration.ofSeconds(30),
            Duration.ofMillis(1),
            "how long a command may take before it is aborted, and the controller reset"));

    /** How many queue pairs the backend has. */
    public static final Option<Integer> QUEUES = OPTIONS.add(Option.integer(
            "penstock.nvme.queues",
            0,
            0,
            64,
            "how many queue pairs a backend has; 0 for one per 4 processors, 1 to 4"));

    private NvmeOptions() {}

    /** Returns all options of this backend. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
