// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.file;

import static java.util.Map.entry;

import io.penstock.engine.ffi.WindowsError;
import io.penstock.engine.spi.ffi.Errno;
import java.io.IOException;
import java.util.Map;

/**
 * Maps the exceptions of file channels, which keep only the message text of the C library or the system, to error
 * numbers. Unknown texts (another library, another language) are not mapped.
 */
final class ChannelErrors {
    /** Added to numbers of {@code GetLastError}; above all errno values. */
    static final int FIRST_WINDOWS = 1 << 14;

    private static final Map<String, Integer> NUMBERS = Map.ofEntries(
            entry("Operation not permitted", 1),
            entry("Interrupted system call", Errno.EINTR),
            entry("Input/output error", Errno.EIO),
            entry("I/O error", Errno.EIO), // musl
            entry("No such device or address", 6),
            entry("Bad file descriptor", Errno.EBADF),
            entry("Resource temporarily unavailable", Errno.EAGAIN),
            entry("Cannot allocate memory", Errno.ENOMEM),
            entry("Permission denied", Errno.EACCES),
            entry("No such device", 19),
            entry("Invalid argument", Errno.EINVAL),
            entry("File too large", 27),
            entry("No space left on device", Errno.ENOSPC),
            entry("Read-only file system", 30),
            entry("Software caused connection abort", 103),
            entry("Transport endpoint is not connected", 107),
            entry("Connection timed out", 110),
            entry("Stale file handle", 116),
            entry("Structure needs cleaning", 117),
            entry("Remote I/O error", 121),
            entry("Disk quota exceeded", 122),
            entry("Quota exceeded", 122)); // musl

    private ChannelErrors() {}

    /** Returns the negative number that {@code refused} names; 0 if unknown. */
    static long number(IOException refused) {
        String prose = refused.getMessage();
        if (prose != null) {
            Integer number = NUMBERS.get(prose);
            if (number != null) {
                return -number;
            }
            Integer windows = WindowsError.number(prose);
            if (windows != null) {
                return -(FIRST_WINDOWS + windows);
            }
        }
        return 0;
    }
}
