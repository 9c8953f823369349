// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/**
 * WGL, the part of Windows' {@code opengl32.dll} that makes contexts. A BOOL or handle of 0 is a failure; {@link
 * #lastError} returns its code.
 *
 * <p>No function may be called before {@link #load} has succeeded.
 */
public final class Wgl {
    public static final String FILE = "opengl32.dll";

    public static final int WGL_CONTEXT_MAJOR_VERSION_ARB = 0x2091;
    public static final int WGL_CONTEXT_MINOR_VERSION_ARB = 0x2092;
    public static final int WGL_CONTEXT_FLAGS_ARB = 0x2094;
    public static final int WGL_CONTEXT_PROFILE_MASK_ARB = 0x9126;
    public static final int WGL_CONTEXT_CORE_PROFILE_BIT_ARB = 1;
    public static final int WGL_CONTEXT_ROBUST_ACCESS_BIT_ARB = 4;
    public static final int WGL_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB = 0x8256;
    public static final int WGL_LOSE_CONTEXT_ON_RESET_ARB = 0x8252;

    private static final int NOTHING = 3; // drivers return 0, 1, 2, 3 or -1 for a function that they do not have

    private static final VendorLibrary LIBRARY = new VendorLibrary(Wgl.class, FILE, List.of(), 0);

    private Wgl() {}

    /** Returns true on Windows. */
    public static boolean isHere() {
        return Machine.operatingSystem().startsWith("windows");
    }

    /**
     * Loads it, once for the process.
     *
     * @param file the file of OpenGL, which makes the contexts of its functions, too; or an empty string
     * @return why there is none, or an empty string
     */
    public static String load(String file) {
        return LIBRARY.load(file);
    }

    /** Returns the address of a function, for which a context must be current, or 0. */
    static long address(String function) {
        long address = wglGetProcAddress(function);
        return address == -1 || (address >= 0 && address <= NOTHING) ? 0 : address;
    }

    /**
     * Calls {@code wglCreateContextAttribsARB}; only where a context is current.
     *
     * @return 0 if the driver does not have it, or refuses
     */
    public static long createContext(long dc, long share, int[] attributes) {
        long address = address("wglCreateContextAttribsARB");
        return address == 0
                ? 0
                : Function.getFunction(new Pointer(address))
                        .invokeLong(new Object[] {new Pointer(dc), new Pointer(share), attributes});
    }

    /** Returns the Windows error of the call that failed on this thread. */
    public static int lastError() {
        return Native.getLastError();
    }

    public static native long wglCreateContext(long dc);

    public static native int wglDeleteContext(long context);

    public static native long wglGetCurrentContext();

    public static native long wglGetCurrentDC();

    public static native long wglGetProcAddress(String name);

    public static native int wglMakeCurrent(long dc, long context);
}
