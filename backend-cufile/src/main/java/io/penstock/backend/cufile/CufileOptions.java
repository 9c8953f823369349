// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Option;
import java.util.List;

/** The options of the cufile backend, beside those of every backend and those of staging. */
public final class CufileOptions {

    /** Which way transfers take. */
    public static final Option<CufilePath> PATH =
            Option.choice("penstock.cufile.path", CufilePath.class, CufilePath.AUTO, "which way transfers take");

    /** Which GPU, as the driver counts them. */
    public static final Option<Integer> DEVICE =
            Option.integer("penstock.cufile.device", 0, 0, 1023, "which GPU, as the CUDA driver counts them");

    /** Whose CUDA context. */
    public static final Option<String> CONTEXT = Option.text(
            "penstock.cufile.context",
            "primary",
            "primary, current (that of the thread that opens the backend), or the address of a CUcontext, 0x7f12...");

    /** Where the CUDA driver is. */
    public static final Option<String> LIBCUDA = Option.text(
            "penstock.cufile.libcuda",
            "",
            "the file of the CUDA driver; without it libcuda.so.1 and the usual folders");

    /** Where libcufile is. */
    public static final Option<String> LIBCUFILE = Option.text(
            "penstock.cufile.libcufile", "", "the file of libcufile; without it libcufile.so.0 and the usual folders");

    /** How much of mapped files may be registered with the driver, and so pinned. */
    public static final Option<Long> MAPPED_BYTES = Option.bytes(
            "penstock.cufile.mapped-bytes",
            0,
            0,
            1L << 50,
            "the most bytes of mapped files that are pinned for one GPU; 0 is a quarter of the machine's memory");

    /** How many threads register mapped files with the driver. */
    public static final Option<Integer> MAPPED_THREADS = Option.integer(
            "penstock.cufile.mapped-threads",
            0,
            0,
            64,
            "the threads that register mapped files for one GPU; 0 counts the processors");

    private CufileOptions() {}

    /** Returns all of them. */
    public static List<Option<?>> all() {
        return List.of(PATH, DEVICE, CONTEXT, LIBCUDA, LIBCUFILE, MAPPED_BYTES, MAPPED_THREADS);
    }
}
