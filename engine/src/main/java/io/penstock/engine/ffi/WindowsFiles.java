// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ffi;

import com.sun.jna.Native;
import com.sun.jna.WString;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystems;
import java.nio.file.Path;

/** File attributes of Windows that the JDK does not expose. */
public final class WindowsFiles {

    private static final int SHARE_ALL = 1 | 2 | 4;
    private static final int OPEN_EXISTING = 3;
    private static final int FILE_FLAG_BACKUP_SEMANTICS = 0x02000000; // also opens directories
    private static final long INVALID_HANDLE_VALUE = -1;

    // BY_HANDLE_FILE_INFORMATION
    private static final int INFORMATION_BYTES = 52;
    private static final int VOLUME_SERIAL_NUMBER = 28;
    private static final int FILE_INDEX_HIGH = 44;
    private static final int FILE_INDEX_LOW = 48;

    private WindowsFiles() {}

    /**
     * Returns the serial number of the volume that a file is on and its index there, which are equal for all names of
     * one file; an empty array if this is not Windows, the system does not report them, or JNA cannot be loaded.
     */
    public static long[] identity(Path path) {
        boolean known = Machine.operatingSystem().startsWith("windows")
                && path.getFileSystem() == FileSystems.getDefault()
                && NativeMemory.isAvailable();
        return known ? query(path) : new long[0];
    }

    private static long[] query(Path path) {
        WString name = new WString(path.toAbsolutePath().toString());
        long handle = Kernel32.CreateFileW(name, 0, SHARE_ALL, 0, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, 0);
        if (handle == INVALID_HANDLE_VALUE) {
            return new long[0];
        }
        try {
            byte[] bytes = new byte[INFORMATION_BYTES];
            if (Kernel32.GetFileInformationByHandle(handle, bytes) == 0) {
                return new long[0];
            }
            ByteBuffer information = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            long high = Integer.toUnsignedLong(information.getInt(FILE_INDEX_HIGH));
            long low = Integer.toUnsignedLong(information.getInt(FILE_INDEX_LOW));
            return new long[] {
                Integer.toUnsignedLong(information.getInt(VOLUME_SERIAL_NUMBER)), high << Integer.SIZE | low
            };
        } finally {
            Kernel32.CloseHandle(handle);
        }
    }

    /** Loaded on Windows only. */
    private static final class Kernel32 {
        static {
            Native.register(Kernel32.class, "kernel32");
        }

        static native long CreateFileW(
                WString name, int access, int share, long security, int disposition, int flags, long template);

        static native int GetFileInformationByHandle(long handle, byte[] information);

        static native int CloseHandle(long handle);
    }
}
