// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.NativeError;
import io.penstock.engine.ffi.Errno;
import io.penstock.engine.ffi.WindowsError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Negative results of host I/O and what they mean: {@code -errno}, a number of Windows, or, for file channels, which know
 * no numbers, a reference to the exception.
 *
 * <p><b>Threading:</b> thread-safe. An exception is remembered until 1024 later ones have come; its result then still
 * says that there was a failure, but not which.
 */
final class HostFailure {
    private static final int REMEMBERED = 1024;
    private static final long FIRST_WINDOWS = 1 << 14; // above all numbers of errno
    private static final long FIRST_REFERENCE = 1 << 16; // above all numbers of Windows that are known by name

    private static final AtomicLong NEXT = new AtomicLong();
    private static final AtomicReferenceArray<Thrown> RECENT = new AtomicReferenceArray<>(REMEMBERED);

    private HostFailure() {}

    /** Returns the result that stands for {@code error}; not below {@code -2^40}. */
    static long remember(Throwable error) {
        long number = NEXT.getAndIncrement() & 0xff_ffff_ffffL >> 1;
        RECENT.set((int) (number % REMEMBERED), new Thrown(number, error));
        return -(FIRST_REFERENCE + number);
    }

    /** Returns the result that stands for a number of {@code GetLastError}. */
    static long ofWindows(int error) {
        return -(FIRST_WINDOWS + error);
    }

    /** Returns what {@code result} of {@code call} means. */
    static NativeFailure of(String call, long result) {
        if (result <= -FIRST_WINDOWS && result > -FIRST_REFERENCE) {
            return ofLastError(call, (int) (-result - FIRST_WINDOWS));
        }
        return result > -FIRST_REFERENCE ? ofErrno(call, (int) -result) : ofReference(call, -result - FIRST_REFERENCE);
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

    private static NativeFailure ofReference(String call, long number) {
        Thrown thrown = RECENT.get((int) (number % REMEMBERED));
        if (thrown == null || thrown.number != number) {
            return new NativeFailure(new NativeError(call, 0, "an exception long past"), Kind.PERMANENT);
        }
        Kind kind = thrown.error instanceof OutOfMemoryError ? Kind.TRANSIENT : Kind.PERMANENT;
        return new NativeFailure(new NativeError(call, 0, thrown.error.toString()), kind);
    }

    private record Thrown(long number, Throwable error) {}
}
