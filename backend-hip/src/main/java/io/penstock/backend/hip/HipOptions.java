// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import io.penstock.Option;
import java.util.List;

/** The options of the hip backend, in addition to the options of every backend and of staging. */
public final class HipOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** Which path transfers take. */
    public static final Option<HipPath> PATH =
            OPTIONS.add(Option.choice("penstock.hip.path", HipPath.class, HipPath.AUTO, "the I/O path of transfers"));

    /** Which GPU, by HIP's ordinal. */
    public static final Option<Integer> DEVICE = OPTIONS.add(
            Option.integer("penstock.hip.device", 0, 0, 1023, "the number of the GPU in the HIP runtime's list"));

    /** Which runtime the device memory is of. */
    public static final Option<HipRuntime> RUNTIME = OPTIONS.add(Option.choice(
            "penstock.hip.runtime",
            HipRuntime.class,
            HipRuntime.HIP,
            "where device memory, streams and events come from: the HIP runtime; or the CUDA driver, to test a hipFile"
                    + " that is built over cuFile"));

    /** File of the HIP runtime. */
    public static final Option<String> LIBAMDHIP64 = OPTIONS.add(Option.text(
            "penstock.hip.libamdhip64",
            "",
            "the file of the HIP runtime, or of libcuda with runtime=cuda; without it libamdhip64.so and the usual"
                    + " folders"));

    /** File of libhipfile. */
    public static final Option<String> LIBHIPFILE = OPTIONS.add(Option.text(
            "penstock.hip.libhipfile", "", "the file of libhipfile; without it libhipfile.so and the usual folders"));

    /** Whether hipFile may go through host memory by itself. */
    public static final Option<Boolean> ALLOW_COMPAT = OPTIONS.add(
            Option.flag(
                    "penstock.hip.allow-compat",
                    false,
                    "hipFile may fall back to POSIX calls by itself; HIPFILE_ALLOW_COMPAT_MODE, if it is set, decides instead"));

    /** When buffers are registered with hipFile. */
    public static final Option<Registering> REGISTER = OPTIONS.add(Option.choice(
            "penstock.hip.register", Registering.class, Registering.AUTO, "when buffers are registered with hipFile"));

    /** Largest allocation that is registered when it is allocated. */
    public static final Option<Long> REGISTER_BYTES = OPTIONS.add(Option.bytes(
            "penstock.hip.register-bytes",
            64L << 20,
            0,
            1L << 40,
            "memory up to this size is registered when it is allocated, larger memory when it is reused"));

    /** Smallest transfer that goes directly by default. */
    public static final Option<Long> DIRECT_BYTES = OPTIONS.add(Option.bytes(
            "penstock.hip.direct-bytes",
            64L << 10,
            0,
            1L << 40,
            "path=auto moves parts of at least this size directly, and packs smaller ones into staging buffers"));

    /** Number of hipFile calls that may block at once. */
    public static final Option<Integer> THREADS = OPTIONS.add(Option.integer(
            "penstock.hip.threads",
            0,
            0,
            256,
            "how many threads make blocking hipFile calls; 0 for 2 per processor, at most 16"));

    /** Number of internal HIP streams. */
    public static final Option<Integer> STREAMS = OPTIONS.add(Option.integer(
            "penstock.hip.streams", 8, 1, 64, "how many HIP streams carry hipFile's operations on one I/O queue"));

    /** Bytes moved by one hipFile call. */
    public static final Option<Long> SEGMENT_BYTES = OPTIONS.add(Option.bytes(
            "penstock.hip.segment-bytes", 4L << 20, 4096, 1L << 30, "the most bytes that one call of hipFile moves"));

    private HipOptions() {}

    /** Returns all options. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
