// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Option;
import java.util.List;

/** The options of the opencl-ssg backend, beside those of every backend, of staging and of host I/O. */
public final class OpenClOptions {

    /** Which way transfers take. */
    public static final Option<OpenClPath> PATH =
            Option.choice("penstock.opencl.path", OpenClPath.class, OpenClPath.AUTO, "which way transfers take");

    /** Which device. */
    public static final Option<String> DEVICE = Option.text(
            "penstock.opencl.device",
            "best",
            "the device: its number as doctor counts, part of its or its platform's name, gpu, cpu, accelerator,"
                    + " custom, ssg (one with AMD's extension), or best");

    /** Whose OpenCL context. */
    public static final Option<String> CONTEXT = Option.text(
            "penstock.opencl.context", "own", "own, or the address of a cl_context of the application's, 0x7f12...");

    /** Where OpenCL is. */
    public static final Option<String> LIBRARY = Option.text(
            "penstock.opencl.library",
            "",
            "the file of the OpenCL loader; without it libOpenCL.so.1 (OpenCL.dll) and the usual folders");

    private OpenClOptions() {}

    /** Returns all of them. */
    public static List<Option<?>> all() {
        return List.of(PATH, DEVICE, CONTEXT, LIBRARY);
    }
}
