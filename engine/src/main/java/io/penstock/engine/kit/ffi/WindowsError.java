// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import com.sun.jna.Native;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The error codes of {@code GetLastError} that file I/O returns, and their names. */
public final class WindowsError {

    private static final Map<Integer, String> SYMBOLS = Arrays.stream(
                    """
            1=INVALID_FUNCTION 2=FILE_NOT_FOUND 3=PATH_NOT_FOUND 4=TOO_MANY_OPEN_FILES 5=ACCESS_DENIED 6=INVALID_HANDLE
            8=NOT_ENOUGH_MEMORY 13=INVALID_DATA 14=OUTOFMEMORY 19=WRITE_PROTECT 21=NOT_READY 23=CRC 25=SEEK
            27=SECTOR_NOT_FOUND 29=WRITE_FAULT 30=READ_FAULT 31=GEN_FAILURE 32=SHARING_VIOLATION 33=LOCK_VIOLATION
            38=HANDLE_EOF 39=HANDLE_DISK_FULL 50=NOT_SUPPORTED 55=DEV_NOT_EXIST 59=UNEXP_NET_ERR 64=NETNAME_DELETED
            87=INVALID_PARAMETER 109=BROKEN_PIPE 112=DISK_FULL 131=NEGATIVE_SEEK 170=BUSY 223=FILE_TOO_LARGE
            995=OPERATION_ABORTED 998=NOACCESS 1006=FILE_INVALID 1117=IO_DEVICE 1295=DISK_QUOTA_EXCEEDED
            1392=FILE_CORRUPT 1450=NO_SYSTEM_RESOURCES 1453=WORKING_SET_QUOTA 1816=NOT_ENOUGH_QUOTA
            """.strip().split("\\s+"))
            .map(entry -> entry.split("="))
            .collect(Collectors.toUnmodifiableMap(entry -> Integer.valueOf(entry[0]), entry -> "ERROR_" + entry[1]));

    private WindowsError() {}

    /**
     * Returns the name of an error, {@code ERROR_DISK_FULL} for 112; an empty string if the code is not listed here.
     */
    public static String symbol(int error) {
        return SYMBOLS.getOrDefault(error, "");
    }

    /**
     * Returns the error code of a system message, since the exceptions of the JDK keep only the message; null if it is
     * not listed here, or this is not Windows.
     */
    public static @Nullable Integer number(String prose) {
        return Machine.operatingSystem().startsWith("windows") && NativeMemory.isAvailable()
                ? Prose.NUMBERS.get(prose)
                : null;
    }

    /** The system's messages, in its language, queried once. */
    private static final class Prose {
        private static final int FROM_SYSTEM = 0x1000;
        private static final int IGNORE_INSERTS = 0x200;
        private static final int MOST_CHARS = 512;

        static final Map<String, Integer> NUMBERS = numbers();

        private static Map<String, Integer> numbers() {
            Native.register(Prose.class, "kernel32");
            Map<String, Integer> numbers = new HashMap<>();
            for (int number : SYMBOLS.keySet()) {
                char[] text = new char[MOST_CHARS];
                int length = FormatMessageW(FROM_SYSTEM | IGNORE_INSERTS, 0, number, 0, text, MOST_CHARS, 0);
                // Trimmed as the JDK does.
                numbers.put(new String(text, 0, length).replaceFirst("\\.?\\r?\\n?$", ""), number);
            }
            return numbers;
        }

        static native int FormatMessageW(
                int flags, long source, int message, int language, char[] buffer, int chars, long arguments);
    }
}
