// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Option;
import java.util.List;

/** The options of the opencl-ssg backend, in addition to the options of every backend, of staging and of host I/O. */
public final class OpenClOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** Which path transfers take. */
    public static final Option<OpenClPath> PATH = OPTIONS.add(
            Option.choice("penstock.opencl.path", OpenClPath.class, OpenClPath.AUTO, "the I/O path of transfers"));

    /** Which device. */
    public static final Option<String> DEVICE = OPTIONS.add(Option.text(
            "penstock.opencl.device",
            "best",
            "the device: its number in the list of doctor, part of its or its platform's name, gpu, cpu, accelerator,"
                    + " custom, ssg (one with AMD's extension), or best"));

    /** Which OpenCL context. */
    public static final Option<String> CONTEXT = OPTIONS.add(Option.handle(
            "penstock.opencl.context", List.of("own"), "a cl_context", "the context: its own, or the application's"));

    /** Which memory staging buffers use. */
    public static final Option<StagingMemory> STAGING_MEMORY = OPTIONS.add(Option.choice(
            "penstock.opencl.staging-memory",
            StagingMemory.class,
            StagingMemory.AUTO,
            "who allocates the memory of staging buffers: own (registered with the driver), driver, or auto, which is"
                    + " driver for a device with memory of its own"));

    /** File of the OpenCL library. */
    public static final Option<String> LIBRARY = OPTIONS.add(Option.text(
            "penstock.opencl.library",
            "",
            "the file of the OpenCL loader; without it libOpenCL.so.1 (OpenCL.dll) and the usual folders"));

    /** Limit of persistent memory per process. */
    public static final Option<Long> PERSISTENT_BYTES = OPTIONS.add(Option.bytes(
            "penstock.opencl.ssg.persistent-bytes",
            100L << 20,
            0,
            1L << 40,
            "the most persistent memory (SSG) that this process uses; the driver has 128 MB for all"));

    /** Size of the ring, within persistent memory, for buffers that a disk cannot reach. */
    public static final Option<Long> SSG_RING_BYTES = OPTIONS.add(Option.bytes(
            "penstock.opencl.ssg.ring-bytes",
            16L << 20,
            0,
            1L << 40,
            "how many bytes of it are a ring of staging buffers, for buffers that are not in persistent memory"));

    /** Bytes moved by one command of the extension. */
    public static final Option<Long> SSG_SEGMENT_BYTES = OPTIONS.add(Option.bytes(
            "penstock.opencl.ssg.segment-bytes",
            2L << 20,
            4096,
            1L << 30,
            "the most bytes that one command of the SSG extension moves, and the bytes of a staging buffer of"
                    + " its ring"));

    /** Number of command queues for the extension's commands. */
    public static final Option<Integer> SSG_QUEUES = OPTIONS.add(Option.integer(
            "penstock.opencl.ssg.queues",
            0,
            0,
            64,
            "how many in-order command queues carry SSG commands; 0 for one out-of-order queue if the device has it"));

    /** The file with which the extension is tested. */
    public static final Option<String> SSG_FILE = OPTIONS.add(Option.text(
            "penstock.opencl.ssg.file",
            "",
            "a file on the card's disk to test the SSG extension with; without it a temporary one"));

    private OpenClOptions() {}

    /** Returns all options. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
