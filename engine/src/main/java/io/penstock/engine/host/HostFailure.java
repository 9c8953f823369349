// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.NativeError;
import io.penstock.engine.ffi.WindowsError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;
import io.penstock.engine.spi.ffi.Errno;
import java.io.IOException;

/**
 * Negative results of host I/O and what they mean: {@code -errno} or a number of Windows; a file channel throws where it
 * knows no number.
 */
public final class HostFailure {
    private static final int FIRST_WINDOWS = 1 << 14; // above all numbers of errno

    private HostFailure() {}

    /** Returns the result that stands for a number of {@code GetLastError}. */
    static long ofWindows(int error) {
        return -(FIRST_WINDOWS + error);
    }

    /** Returns what {@code result} of {@code call} means. */
    public static NativeFailure of(String call, long result) {
        return result <= -FIRST_WINDOWS
                ? ofLastError(call, (int) (-result - FIRST_WINDOWS))
                : ofErrno(call, (int) -result);
    }

    /** Returns what an exception of {@code call} means. */
    public static NativeFailure of(String call, Throwable thrown) {
        if (thrown instanceof ErrnoException errno) {
            return new NativeFailure(errno.nativeError(), Kind.PERMANENT);
        }
        if (thrown instanceof IOException refused) {
            long number = ChannelErrors.number(refused);
            if (number != 0) {
                return of(call, number);
            }
        }
        Kind kind = thrown instanceof OutOfMemoryError ? Kind.TRANSIENT : Kind.PERMANENT;
        return new NativeFailure(new NativeError(call, 0, thrown.toString()), kind);
    }

    private static NativeFailure ofErrno(String call, int errno) {
        Kind kind = switch (errno) {
            case Errno.EINTR, Errno.EAGAIN -> Kind.RETRY;
            case Errno.ENOMEM, Errno.ENOBUFS, Errno.EBUSY -> Kind.TRANSIENT;
            case Errno.ECANCELED -> Kind.CANCELLED;
            default -> Kind.PERMANENT;
        };
        return new NativeFailure(new NativeError(call, errno, Errno.symbol(errno)), kind);
    }

    private static NativeFailure ofLastError(String call, int error) {
        String symbol = WindowsError.symbol(error);
        Kind kind = switch (symbol) {
            case "ERROR_NOT_ENOUGH_MEMORY",
                    "ERROR_OUTOFMEMORY",
                    "ERROR_BUSY",
                    "ERROR_NO_SYSTEM_RESOURCES",
                    "ERROR_WORKING_SET_QUOTA",
                    "ERROR_NOT_ENOUGH_QUOTA" -> Kind.TRANSIENT;
            default -> Kind.PERMANENT;
        };
        return new NativeFailure(new NativeError(call, error, symbol), kind);
    }
}
