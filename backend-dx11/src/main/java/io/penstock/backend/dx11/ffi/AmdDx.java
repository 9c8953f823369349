// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/**
 * AMD's extensions of Direct3D 11.
 *
 * <ul>
 *   <li>{@code IAmdDxExt} is by AMD's public headers ({@code AmdDxExtIface.hpp}, {@code AmdDxExtApi.hpp}). It is not a
 *       COM object: its first table entries are AddRef, Release and one destructor, as Microsoft's compiler lays the
 *       class out.
 *   <li>{@code IAmdDxExtSSG} is in the order of the class at the head of chapter 9 of AMD's "SSG API" manual, behind the
 *       same three entries. Where 9.1 to 9.9 of the manual differ, the class decides: a write takes the buffer first,
 *       and DestroyEvent destroys an event.
 * </ul>
 *
 * <p>Handles are as wide as a pointer, or narrower: passed by value, either fills a register.
 */
public final class AmdDx {

    static {
        Vtable.bind(AmdDx.class, Vtable.of("IAmdDxExt", "Release=1 GetExtInterface=4"), Vtable.of("IAmdDxExtSSG", """
                        Release=1 GetExtensionVersion=3 CreateFile=4 ReleaseFile=5 GetFileInfo=6 CreateEvent=7
                        DestroyEvent=8 WaitEvent=9 ReadBufferFromFile=10 WriteBufferToFile=11"""));
    }

    private AmdDx() {}

    /** The export of AMD's driver that gives access to its extensions. */
    public static final class Exports {

        private static final VendorLibrary LIBRARY =
                new VendorLibrary(Exports.class, "atidxx64", List.of(), Hresult.E_NOINTERFACE);

        private Exports() {}

        /**
         * Loads it, once for the process; it is already loaded if a device is from AMD.
         *
         * @param file the driver, or an empty string for the system's
         * @return why there is none, or an empty string
         */
        public static String load(String file) {
            String why = LIBRARY.load(file);
            return why.isEmpty() && !LIBRARY.absent().isEmpty()
                    ? LIBRARY.file() + " exports no " + LIBRARY.absent()
                    : why;
        }

        /** Returns an {@code IAmdDxExt} of a device, with a reference that the caller owns. */
        public static native int AmdDxExtCreate11(long device, long[] extension);
    }

    /** Of both interfaces. */
    public static native int Release(long object);

    /** Returns an interface of the extension, with a reference that the caller owns; 0 if there is none. */
    public static native long GetExtInterface(long extension, int id);

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
