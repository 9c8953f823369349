// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/**
 * {@code IAmdDxExtSSG}, in the order of the class at the head of chapter 9 of AMD's "SSG API" manual, behind the three
 * entries of {@link AmdExtension}. Where 9.1 to 9.9 of the manual differ, the class decides: a write takes the buffer
 * first, and DestroyEvent destroys an event.
 *
 * <p>Handles are as wide as a pointer, or narrower: passed by value, either fills a register.
 */
public final class AmdSsg {

    /** The table of its methods. */
    public static final Vtable TABLE = Vtable.of("IAmdDxExtSSG", """
            Release=1 GetExtensionVersion=3 CreateFile=4 ReleaseFile=5 GetFileInfo=6 CreateEvent=7
            DestroyEvent=8 WaitEvent=9 ReadBufferFromFile=10 WriteBufferToFile=11""");

    static {
        TABLE.bind(AmdSsg.class);
    }

    private AmdSsg() {}

    public static native int Release(long ssg);

    public static native int GetExtensionVersion(long ssg, byte[] version);

    /**
     * Opens or creates a file.
     *
     * @param name NUL-terminated UTF-16 in memory order
     */
    public static native int CreateFile(long ssg, byte[] name, int access, byte[] file);

    public static native int ReleaseFile(long ssg, long file);

    public static native int GetFileInfo(long ssg, long file, byte[] info);

    public static native int CreateEvent(long ssg, long event);

    public static native int DestroyEvent(long ssg, long event);

    /** Blocks until the transfer with this event has completed. */
    public static native int WaitEvent(long ssg, long event);

    /** Blocks until the transfer has completed, unless an event is passed. */
    public static native int ReadBufferFromFile(
            long ssg, long buffer, long file, int numRegions, long regions, long event);

    /** As {@link #ReadBufferFromFile}. */
    public static native int WriteBufferToFile(
            long ssg, long buffer, long file, int numRegions, long regions, long event);
}
