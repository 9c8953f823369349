// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.options;

import io.penstock.Option;
import java.util.List;

/** The options of the gl backend, in addition to the options of every backend and of staging. */
public final class GlOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** The path that transfers take. */
    public static final Option<GlPath> PATH =
            OPTIONS.add(Option.choice("penstock.gl.path", GlPath.class, GlPath.AUTO, "the I/O path of transfers"));

    /** The device on which the backend creates its context. */
    public static final Option<String> DEVICE = OPTIONS.add(Option.text(
            "penstock.gl.device",
            "auto",
            "auto (the first GPU, else a software renderer), surfaceless, or the number of a device in EGL's list"));

    /** The context to use: the backend's own or one that is shared. */
    public static final Option<String> CONTEXT = OPTIONS.add(Option.text(
            "penstock.gl.context",
            "headless",
            "headless, or current: a context that shares with the EGL context of the thread that opens the backend"));

    /** The EGL library. */
    public static final Option<String> LIBEGL = OPTIONS.add(
            Option.text("penstock.gl.libegl", "", "the file of EGL; without it libEGL.so.1 and the usual folders"));

    /** The OpenGL library. */
    public static final Option<String> LIBGL = OPTIONS.add(Option.text(
            "penstock.gl.libgl",
            "",
            "the file of OpenGL; without it libOpenGL.so.0, libGL.so.1 and the usual folders; on Windows"
                    + " opengl32.dll"));

    /** The library with the functions of AMD's extension. */
    public static final Option<String> SSG_LIBRARY = OPTIONS.add(Option.text(
            "penstock.gl.ssg-library",
            "",
            "a library with the functions of AMD's SSG extension; without it EGL provides them"));

    /** The name of AMD's extension. */
    public static final Option<String> SSG_EXTENSION = OPTIONS.add(Option.text(
            "penstock.gl.ssg-extension",
            "",
            "the name of AMD's SSG extension, which was never published; not needed where a library is named"));

    /** The token that queries the block size. */
    public static final Option<String> SSG_BLOCK_SIZE_TOKEN = OPTIONS.add(Option.text(
            "penstock.gl.ssg-block-size-token",
            "",
            "the value of GL_FILE_BLOCK_SIZE_AMD, which was never published, such as 0x9160"));

    /** The token that queries the length of a file. */
    public static final Option<String> SSG_FILE_SIZE_TOKEN = OPTIONS.add(Option.text(
            "penstock.gl.ssg-file-size-token",
            "",
            "the value of GL_FILE_SIZE_AMD, which was never published, such as 0x9161"));

    /** The width of a file handle. */
    public static final Option<String> SSG_HANDLE_BITS = OPTIONS.add(Option.text(
            "penstock.gl.ssg-handle-bits", "", "the bits of a GLfilehandleAMD, which were never published: 32 or 64"));

    /** The file that the probe of the extension uses. */
    public static final Option<String> SSG_FILE = OPTIONS.add(Option.text(
            "penstock.gl.ssg-file",
            "",
            "a file on the card's disk to test the SSG extension with; without it a temporary one"));

    /** The bytes per command. */
    public static final Option<Long> SSG_SEGMENT_BYTES = OPTIONS.add(Option.bytes(
            "penstock.gl.ssg-segment-bytes",
            4L << 20,
            256L << 10,
            1L << 30,
            "the most bytes of one SSG command, and the bytes of a staging buffer of its ring"));

    /** The size of the ring. */
    public static final Option<Long> SSG_RING_BYTES = OPTIONS.add(Option.bytes(
            "penstock.gl.ssg-ring-bytes",
            32L << 20,
            256L << 10,
            1L << 30,
            "the local visible memory for a ring of staging buffers, for buffers that are not in such memory"));

    /** The local visible memory that this process may use. */
    public static final Option<Long> VISIBLE_BYTES = OPTIONS.add(Option.bytes(
            "penstock.gl.visible-bytes",
            96L << 20,
            256L << 10,
            1L << 40,
            "the most local visible memory that buffers and rings of this process use; AMD's cards have about"
                    + " 100 MB of it"));

    private GlOptions() {}

    /** Returns all options of this backend. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
