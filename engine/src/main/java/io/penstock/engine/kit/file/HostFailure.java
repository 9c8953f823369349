// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.file;

import static java.util.Map.entry;

import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.TransientStorageException;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.WindowsError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;
import io.penstock.engine.spi.Request;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Negative results of host I/O and their meaning: {@code -errno}, or the equivalent of a Windows error number. A file
 * channel throws if the number is unknown.
 */
public final class HostFailure {

    /** Added to numbers of {@code GetLastError}; above all errno values. */
    static final int FIRST_WINDOWS = 1 << 14;

    /**
     * The numbers of messages in English, where the C library's own are not available: without JNA, and on systems
     * other than Linux.
     */
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
            entry("Too many open files in system", Errno.ENFILE),
            entry("Too many open files", Errno.EMFILE),
            entry("No file descriptors available", Errno.EMFILE), // musl
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

    private HostFailure() {}

    /**
     * Returns the negative result that corresponds to {@code refused}.
     *
     * @throws IOException {@code refused} itself if its number is unknown
     */
    public static long result(IOException refused) throws IOException {
        long number = number(refused);
        if (number == 0) {
            throw refused;
        }
        return number;
    }

    /**
     * Returns the failure for a negative result of {@link HostFile#read}, {@link HostFile#write} or
     * {@link HostFile#sync}.
     */
    public static NativeFailure of(Request.Kind kind, long result) {
        return of(call(kind), result);
    }

    /** Returns the failure for an exception of one of these methods. */
    public static NativeFailure of(Request.Kind kind, Throwable thrown) {
        return of(call(kind), thrown);
    }

    /** Returns the failure for {@code result} of {@code call}. */
    public static NativeFailure of(String call, long result) {
        return result <= -FIRST_WINDOWS
                ? ofLastError(call, (int) (-result - FIRST_WINDOWS))
                : ofErrno(call, (int) -result);
    }

    /** Returns the failure for an exception of {@code call}. */
    public static NativeFailure of(String call, Throwable thrown) {
        if (thrown instanceof ErrnoException errno) {
            return new NativeFailure(errno.nativeError(), Kind.PERMANENT);
        }
        if (thrown instanceof IOException refused) {
            long number = number(refused);
            if (number != 0) {
                return of(call, number);
            }
        }
        if (thrown instanceof EOFException early) {
            return new NativeFailure(
                    new NativeError(call, 0, "END"), Kind.PERMANENT, String.valueOf(early.getMessage()));
        }
        Kind kind = thrown instanceof OutOfMemoryError ? Kind.TRANSIENT : Kind.PERMANENT;
        return new NativeFailure(new NativeError(call, 0, thrown.toString()), kind);
    }

    /**
     * Returns the exception of an opening that may succeed later, since a limit of the process or the machine was met;
     * null if that is not the reason.
     */
    public static @Nullable TransientStorageException ofLimit(Object file, int errno, Throwable cause) {
        String remedy = remedy(errno);
        NativeError answer = new NativeError("open", errno, Errno.symbol(errno));
        return remedy.isEmpty()
                ? null
                : new TransientStorageException(
                        "opening " + file + " failed: " + answer + "; " + remedy,
                        new Failure(Outcome.NOT_STARTED, answer),
                        cause);
    }

    /** Returns what to do about a call that met a limit of the process or the machine; empty for other numbers. */
    public static String remedy(int errno) {
        return switch (errno) {
            case Errno.EMFILE -> "the process has as many open files as ulimit -n permits: close some, or raise it";
            case Errno.ENFILE -> "the machine has as many open files as fs.file-max permits";
            case Errno.ENOMEM, Errno.ENOBUFS -> "the kernel has no memory for it at the moment";
            default -> "";
        };
    }

    /** Returns an exception in words, with what to do if it met a limit of the process or the machine. */
    public static String told(Throwable refused) {
        String remedy = remedy(refused);
        return remedy.isEmpty() ? refused.toString() : refused + ": " + remedy;
    }

    /** Returns what to do about an exception whose cause met a limit of the process or the machine; else empty. */
    public static String remedy(Throwable refused) {
        return remedy(limit(refused));
    }

    /** As {@link #ofLimit}, for an exception of the JDK, or with such a cause, which has the number's message alone. */
    public static @Nullable TransientStorageException ofLimit(Object file, IOException refused) {
        return ofLimit(file, limit(refused), refused);
    }

    /**
     * As {@link #ofLimit}, if so many files cannot be opened now: for libraries that do not tell that limit from other
     * errors, or end the process.
     */
    public static @Nullable TransientStorageException ofLimitNow(Object file, int count) {
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            while (opened.size() < count) {
                opened.add(Files.newByteChannel(Path.of("/dev/null")));
            }
            return null;
        } catch (IOException e) { // on Windows there is no such file, and no such limit
            return ofLimit(file, e);
        } finally {
            opened.forEach(HostFailure::close);
        }
    }

    private static void close(AutoCloseable file) {
        try {
            file.close();
        } catch (Exception e) {
            throw new IllegalStateException(e); // nothing was written
        }
    }

    /** Returns the number of the first cause that met a limit; 0 if there is none. */
    private static int limit(Throwable refused) {
        for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
            String prose = cause instanceof FileSystemException named ? named.getReason() : cause.getMessage();
            int errno = cause instanceof IOException && prose != null ? (int) -number(prose) : 0;
            if (!remedy(errno).isEmpty()) {
                return errno;
            }
        }
        return 0;
    }

    /** Returns the system call for a request. */
    public static String call(Request.Kind kind) {
        return switch (kind) {
            case READ, COPY_IN, COPY_OUT -> "pread";
            case WRITE -> "pwrite";
            case SYNC -> "fdatasync";
        };
    }

    private static NativeFailure ofErrno(String call, int errno) {
        Kind kind = switch (errno) {
            case Errno.EINTR, Errno.EAGAIN -> Kind.RETRY;
            case Errno.ENOMEM, Errno.ENOBUFS, Errno.EBUSY, Errno.EMFILE, Errno.ENFILE -> Kind.TRANSIENT;
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

    /** Returns the negative number that {@code refused} names; 0 if unknown. */
    private static long number(IOException refused) {
        String prose = refused.getMessage();
        return prose == null ? 0 : number(prose);
    }

    private static long number(String prose) {
        int errno = Errno.number(prose);
        if (errno == 0) {
            errno = NUMBERS.getOrDefault(prose, 0);
        }
        if (errno != 0) {
            return -errno;
        }
        Integer windows = WindowsError.number(prose);
        return windows == null ? 0 : -(FIRST_WINDOWS + windows);
    }
}
