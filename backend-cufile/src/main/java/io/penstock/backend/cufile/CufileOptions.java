// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Option;
import java.util.List;

/** The options of the cufile backend, in addition to the options of every backend and of staging. */
public final class CufileOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** Which path transfers take. */
    public static final Option<CufilePath> PATH = OPTIONS.add(
            Option.choice("penstock.cufile.path", CufilePath.class, CufilePath.AUTO, "the I/O path of transfers"));

    /** Which GPU, by the driver's ordinal. */
    public static final Option<Integer> DEVICE = OPTIONS.add(
            Option.integer("penstock.cufile.device", 0, 0, 1023, "the number of the GPU in the CUDA driver's list"));

    /** Which CUDA context. */
    public static final Option<String> CONTEXT = OPTIONS.add(Option.handle(
            "penstock.cufile.context",
            List.of("primary", "current"),
            "a CUcontext",
            "the context: the GPU's primary one, the current context of the thread that opens the backend, or the"
                    + " application's"));

    /** File of the CUDA driver. */
    public static final Option<String> LIBCUDA = OPTIONS.add(Option.text(
            "penstock.cufile.libcuda",
            "",
            "the file of the CUDA driver; without it libcuda.so.1 and the usual folders"));

    /** File of libcufile. */
    public static final Option<String> LIBCUFILE = OPTIONS.add(Option.text(
            "penstock.cufile.libcufile", "", "the file of libcufile; without it libcufile.so.0 and the usual folders"));

    /** Limit of mapped file bytes registered with the driver, and so pinned. */
    public static final Option<Long> MAPPED_BYTES = OPTIONS.add(Option.bytes(
            "penstock.cufile.mapped-bytes",
            0,
            0,
            1L << 50,
            "the most bytes of mapped files that are pinned for one GPU; 0 is a quarter of the machine's memory"));

    /** Bytes of a mapped file registered with the driver at a time. */
    public static final Option<Long> MAPPED_SEGMENT_BYTES = OPTIONS.add(Option.bytes(
            "penstock.cufile.mapped-segment-bytes",
            128L << 20,
            64L << 10,
            1L << 40,
            "how many bytes of a mapped file are registered, and unregistered, at a time; whole pages"));

    /** Number of threads that register mapped files with the driver. */
    public static final Option<Integer> MAPPED_THREADS = OPTIONS.add(Option.integer(
            "penstock.cufile.mapped-threads",
            0,
            0,
            64,
            "how many threads register mapped files for one GPU; 0 for one per 2 processors, 2 to 8"));

    /** When buffers are registered with cuFile. */
    public static final Option<Registering> REGISTER = OPTIONS.add(Option.choice(
            "penstock.cufile.register",
            Registering.class,
            Registering.AUTO,
            "when buffers are registered with cuFile"));

    /** Largest allocation that is registered when it is allocated. */
    public static final Option<Long> REGISTER_BYTES = OPTIONS.add(Option.bytes(
            "penstock.cufile.register-bytes",
            64L << 20,
            0,
            1L << 40,
            "memory up to this size is registered when it is allocated, larger memory when it is reused"));

    /** Smallest transfer that goes directly by default. */
    public static final Option<Long> DIRECT_BYTES = OPTIONS.add(Option.bytes(
            "penstock.cufile.direct-bytes",
            16L << 10,
            0,
            1L << 40,
            "path=auto moves parts of at least this size directly, and packs smaller ones into staging buffers"));

    /** Number of cuFile calls that may block at once. */
    public static final Option<Integer> THREADS = OPTIONS.add(Option.integer(
            "penstock.cufile.threads",
            0,
            0,
            256,
            "how many threads make blocking cuFile calls; 0 for 2 per processor, at most 16"));

    /** cuFile's own thread pool. */
    public static final Option<Integer> OWN_THREADS = OPTIONS.add(Option.integer(
            "penstock.cufile.own-threads", 0, 0, 32, "the threads of cuFile's own pool; 0 leaves it to cufile.json"));

    /** Number of CUDA streams for cuFile's operations. */
    public static final Option<Integer> STREAMS = OPTIONS.add(Option.integer(
            "penstock.cufile.streams", 8, 1, 64, "how many CUDA streams carry cuFile's operations on one I/O queue"));

    /** Bytes moved by one cuFile call. */
    public static final Option<Long> SEGMENT_BYTES = OPTIONS.add(Option.bytes(
            "penstock.cufile.segment-bytes", 4L << 20, 4096, 1L << 30, "the most bytes that one call of cuFile moves"));

    /** cuFile's own counters. */
    public static final Option<Integer> STATISTICS = OPTIONS.add(Option.integer(
            "penstock.cufile.statistics", 0, 0, 3, "the level of cuFile's own counters; 0 leaves it to cufile.json"));

    /** Largest size for which cuFile polls. */
    public static final Option<Long> POLL_BYTES = OPTIONS.add(Option.bytes(
            "penstock.cufile.poll-bytes",
            0,
            0,
            1L << 30,
            "the largest operation whose completion cuFile polls for; 0 leaves it to cufile.json"));

    /** Bytes that cuFile requests from the storage at a time. */
    public static final Option<Long> DIRECT_IO_BYTES = OPTIONS.add(Option.bytes(
            "penstock.cufile.direct-io-bytes",
            0,
            0,
            16L << 20,
            "the most bytes that cuFile requests from the storage at a time, rounded up to whole 64 KiB and to 1 MiB;"
                    + " 0 leaves it to cufile.json"));

    /** cuFile's bounce buffers. */
    public static final Option<Long> CACHE_BYTES = OPTIONS.add(Option.bytes(
            "penstock.cufile.cache-bytes",
            0,
            0,
            1L << 40,
            "how much memory of each GPU cuFile uses for bounce buffers; 0 leaves it to cufile.json"));

    /** Limit of GPU memory that may be registered. */
    public static final Option<Long> PINNED_BYTES = OPTIONS.add(Option.bytes(
            "penstock.cufile.pinned-bytes",
            0,
            0,
            1L << 40,
            "the most memory of a GPU that is registered with cuFile; 0 leaves it to cufile.json"));

    private CufileOptions() {}

    /** Returns all options. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
