// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.ClosedException;
import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Creates the exceptions of the engine: the operation, its object, and the native error. */
public final class Failures {

    private Failures() {}

    public static PenstockException movedNothing(Transfer transfer) {
        return new PermanentStorageException(
                transfer + " failed: the device transferred no bytes and reported no error",
                new Failure(Outcome.UNKNOWN, null),
                null);
    }

    public static PenstockException shorter(Path path, long length, long end) {
        return new PermanentStorageException(
                "stream of " + path + " failed: the file became shorter while it was read: it had " + length
                        + " bytes when it was opened, and ended at " + end
                        + "; stream it again when nothing cuts it any more, or regions of it, which may end early",
                new Failure(Outcome.PARTIAL, null, end),
                null);
    }

    public static PenstockException lengthNotRestored(Transfer transfer, long length, Throwable cause) {
        return new PermanentStorageException(
                transfer + " wrote whole blocks, but the file could not be truncated to its length of " + length
                        + " bytes: " + cause.getMessage(),
                new Failure(Outcome.PARTIAL, null),
                cause);
    }

    public static PenstockException abandoned(Object request, Outcome outcome) {
        return new ClosedException(
                request + " had not ended when the backend was closed", new Failure(outcome, null), null);
    }

    public static PenstockException broken(Object request, Throwable cause, Outcome outcome) {
        return new DeviceLostException(
                request + " did not end: its I/O queue failed, see the log", new Failure(outcome, null), cause);
    }

    public static PenstockException closed(Object request, String what) {
        return closed(request, what, null);
    }

    /** As {@link #closed(Object, String)}, by where it was closed, if that is known. */
    public static PenstockException closed(Object request, String what, @Nullable Throwable place) {
        return new ClosedException(request + " refused: " + what + " is closed", Failure.NOT_STARTED, place);
    }

    public static PenstockException copy(String request, NativeFailure failure, long done) {
        String message = request + " failed: " + failure;
        Failure facts = new Failure(Outcome.PARTIAL, failure.error(), done);
        return failure.kind() == NativeFailure.Kind.LOST
                ? new DeviceLostException(message, facts, null)
                : new PermanentStorageException(message, facts, null);
    }

    public static PenstockException sync(String request, NativeFailure failure) {
        String message = request + " failed, as does every later sync of this handle: " + failure;
        Failure facts = new Failure(Outcome.UNKNOWN, failure.error());
        return failure.kind() == NativeFailure.Kind.LOST
                ? new DeviceLostException(message, facts, null)
                : new PermanentStorageException(message, facts, null);
    }

    static PenstockException control(String request, IOException cause) {
        NativeError error = HostFailure.of("FileChannel.truncate", cause).error();
        return new PermanentStorageException(
                request + " failed: " + cause.getMessage(),
                new Failure(Outcome.UNKNOWN, error.code() == 0 ? null : error),
                cause);
    }

    static PenstockException lateError(Path path, IOException cause) {
        NativeError error = HostFailure.of("close", cause).error();
        return new PermanentStorageException(
                "closing " + path + " failed, and what was written to it may be lost: " + error,
                new Failure(Outcome.UNKNOWN, error),
                cause);
    }

    public static PenstockException refused(Transfer transfer, String why) {
        return new PermanentStorageException(transfer + " refused: " + why, Failure.NOT_STARTED, null);
    }

    public static PenstockException behindItsFence(Transfer transfer) {
        return new PermanentStorageException(
                transfer
                        + " failed: the device moved it in parts, and work that waits on the device behind its fence, or"
                        + " behind it in its stream, may have run before the last",
                new Failure(Outcome.UNKNOWN, null),
                null);
    }

    public static PenstockException behindLostWrite(Transfer transfer) {
        return new PermanentStorageException(
                transfer + " refused: a write of the same blocks was lost with its I/O queue, and the device may still"
                        + " carry it out",
                new Failure(Outcome.PARTIAL, null),
                null);
    }

    public static PenstockException notDirect(Transfer transfer, String why) {
        return new PermanentStorageException(
                transfer + " refused: it requires the direct path, and " + why, Failure.NOT_STARTED, null);
    }
}
