// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import com.sun.jna.Native;

/** The functions used of kernel32.dll: events, and executable memory. */
public final class Kernel32 {
    public static final int INFINITE = -1;

    static final int MEM_COMMIT_RESERVE = 0x3000;
    static final int PAGE_READWRITE = 4;
    static final int PAGE_EXECUTE_READ = 0x20;

    static {
        Native.register(Kernel32.class, "kernel32");
    }

    private Kernel32() {}

    public static native int CloseHandle(long handle);

    /** Creates an auto-reset event; returns 0 on failure. */
    public static native long CreateEventW(long security, int manualReset, int signalled, long name);

    public static native int SetEvent(long event);

    public static native int WaitForSingleObject(long handle, int millis);

    static native int FlushInstructionCache(long process, long address, long bytes);

    static native long GetCurrentProcess();

    static native long VirtualAlloc(long address, long bytes, int type, int protection);

    static native int VirtualProtect(long address, long bytes, int protection, int[] before);
}
