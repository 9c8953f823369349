// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Option;
import java.util.List;

/** The options of the gl backend, beside those of every backend and those of staging. */
public final class GlOptions {

    /** Which way transfers take. */
    public static final Option<GlPath> PATH =
            Option.choice("penstock.gl.path", GlPath.class, GlPath.AUTO, "which way transfers take");

    /** Which device a context of ours is made on. */
    public static final Option<String> DEVICE = Option.text(
            "penstock.gl.device",
            "auto",
            "auto (the first GPU, else what renders in software), surfaceless, or the number of a device as EGL counts");

    /** Whose context. */
    public static final Option<String> CONTEXT = Option.text(
            "penstock.gl.context",
            "headless",
            "headless, or current: a context that shares with the EGL context of the thread that opens the backend");

    /** Where EGL is. */
    public static final Option<String> LIBEGL =
            Option.text("penstock.gl.libegl", "", "the file of EGL; without it libEGL.so.1 and the usual folders");

    /** Where OpenGL is. */
    public static final Option<String> LIBGL = Option.text(
            "penstock.gl.libgl",
            "",
            "the file of OpenGL; without it libOpenGL.so.0, libGL.so.1 and the usual folders; on Windows opengl32.dll");

    /** A library with the functions of AMD's extension. */
    public static final Option<String> SSG_LIBRARY = Option.text(
            "penstock.gl.ssg-library",
            "",
            "a library with the functions of AMD's SSG extension; without it EGL is asked for them");

    /** The name of AMD's extension. */
    public static final Option<String> SSG_EXTENSION = Option.text(
            "penstock.gl.ssg-extension",
            "",
            "the name of AMD's SSG extension, which was never published; not needed where a library is named");

    /** The token by which the block size is asked for. */
    public static final Option<String> SSG_BLOCK_SIZE_TOKEN = Option.text(
            "penstock.gl.ssg-block-size-token",
            "",
            "the value of GL_FILE_BLOCK_SIZE_AMD, which was never published, such as 0x9160");

    /** The token by which the length of a file is asked for. */
    public static final Option<String> SSG_FILE_SIZE_TOKEN = Option.text(
            "penstock.gl.ssg-file-size-token",
            "",
            "the value of GL_FILE_SIZE_AMD, which was never published, such as 0x9161");

    /** How wide a file handle is. */
    public static final Option<String> SSG_HANDLE_BITS = Option.text(
            "penstock.gl.ssg-handle-bits", "", "the bits of a GLfilehandleAMD, which were never published: 32 or 64");

    /** A file to try the extension with. */
    public static final Option<String> SSG_FILE = Option.text(
            "penstock.gl.ssg-file",
            "",
            "a file on the card's disk, which is opened to see whether the SSG extension works; without it a temporary one");

    /** How much one command moves. */
    public static final Option<Long> SSG_PIECE_BYTES = Option.bytes(
            "penstock.gl.ssg-piece-bytes",
            4L << 20,
            256L << 10,
            1L << 30,
            "the most bytes of one SSG command, and the bytes of a slot of its ring");

    /** How large the ring is. */
    public static final Option<Long> SSG_RING_BYTES = Option.bytes(
            "penstock.gl.ssg-ring-bytes",
            32L << 20,
            256L << 10,
            1L << 30,
            "the local visible memory through which SSG reaches buffers that are not in it");

    /** How much local visible memory there is for us. */
    public static final Option<Long> VISIBLE_BYTES = Option.bytes(
            "penstock.gl.visible-bytes",
            96L << 20,
            256L << 10,
            1L << 40,
            "the most local visible memory that buffers and rings of this process take; AMD's cards have some 100 MB of it");

    private GlOptions() {}

    /** Returns all of them. */
    public static List<Option<?>> all() {
        return List.of(
                PATH,
                DEVICE,
                CONTEXT,
                LIBEGL,
                LIBGL,
                SSG_LIBRARY,
                SSG_EXTENSION,
                SSG_BLOCK_SIZE_TOKEN,
                SSG_FILE_SIZE_TOKEN,
                SSG_HANDLE_BITS,
                SSG_FILE,
                SSG_PIECE_BYTES,
                SSG_RING_BYTES,
                VISIBLE_BYTES);
    }
}
