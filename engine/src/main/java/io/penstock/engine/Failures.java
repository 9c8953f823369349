// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.ClosedException;
import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.engine.host.ErrnoException;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The exceptions of transfers: what was asked, on what, and the native answer. */
final class Failures {

    /** How often a request that says "again" (EINTR, EAGAIN) is submitted again. */
    static final int MOST_RETRIES = 64;

    private Failures() {}

    static PenstockException of(CarriedTransfer open, NativeFailure failure) {
        Failure facts = facts(open, failure.error());
        String message = open.transfer() + " failed: " + failure;
        return switch (failure.kind()) {
            case RETRY, TRANSIENT ->
                // The device refused to begin; had it begun, it would have said how far it came.
                new TransientStorageException(
                        message, open.hasMoved() ? facts : new Failure(Outcome.NOT_STARTED, failure.error()), null);
            case LOST -> new DeviceLostException(message, facts, null);
            case PERMANENT, CANCELLED -> new PermanentStorageException(message, facts, null);
        };
    }

    static PenstockException expired(CarriedTransfer open) {
        String message = open.transfer() + " passed its deadline of "
                + open.transfer().deadline().orElseThrow() + " with " + open.bytes() + " bytes moved";
        return open.startedNanos() == 0
                ? new TransientStorageException(message, Failure.NOT_STARTED, null)
                : new PermanentStorageException(message, facts(open, null), null);
    }

    private static Failure facts(CarriedTransfer open, @Nullable NativeError error) {
        if (open.startedNanos() == 0) {
            return new Failure(Outcome.NOT_STARTED, error);
        }
        Reach reach = open.reach();
        return reach != null && reach.bytes() > 0
                ? new Failure(Outcome.PARTIAL, error, reach.byPair())
                : new Failure(Outcome.UNKNOWN, error);
    }

    static PenstockException movedNothing(Transfer transfer) {
        return new PermanentStorageException(
                transfer + " failed: the device took no more bytes, and gave no reason",
                new Failure(Outcome.UNKNOWN, null),
                null);
    }

    static PenstockException lengthNotRestored(Transfer transfer, long length, Throwable cause) {
        return new PermanentStorageException(
                transfer + " wrote whole blocks, but the file could not be cut to its length of " + length + " bytes: "
                        + cause.getMessage(),
                new Failure(Outcome.PARTIAL, null),
                cause);
    }

    static PenstockException abandoned(Object request) {
        return new ClosedException(
                request + " had not ended when the backend was closed", new Failure(Outcome.UNKNOWN, null), null);
    }

    static PenstockException broken(Object request, Throwable cause) {
        return new DeviceLostException(
                request + " did not end: its lane broke, see the log", new Failure(Outcome.UNKNOWN, null), cause);
    }

    static PenstockException closed(Object request, String what) {
        return new ClosedException(request + " refused: " + what + " is closed", Failure.NOT_STARTED, null);
    }

    static PenstockException copy(String request, NativeFailure failure, long done) {
        String message = request + " failed: " + failure;
        Failure facts = new Failure(Outcome.PARTIAL, failure.error(), done);
        return failure.kind() == NativeFailure.Kind.LOST
                ? new DeviceLostException(message, facts, null)
                : new PermanentStorageException(message, facts, null);
    }

    static PenstockException sync(String request, NativeFailure failure) {
        return new PermanentStorageException(
                request + " failed, and stays failed for this handle: " + failure.error(),
                new Failure(Outcome.UNKNOWN, failure.error()),
                null);
    }

    static PenstockException control(String request, IOException cause) {
        NativeError error = cause instanceof ErrnoException answer ? answer.nativeError() : null;
        return new PermanentStorageException(
                request + " failed: " + cause.getMessage(), new Failure(Outcome.UNKNOWN, error), cause);
    }

    static PenstockException refused(Transfer transfer, String why) {
        return new PermanentStorageException(transfer + " refused: " + why, Failure.NOT_STARTED, null);
    }

    static PenstockException notDirect(Transfer transfer, String why) {
        return new PermanentStorageException(
                transfer + " refused: it requires the direct path, and " + why, Failure.NOT_STARTED, null);
    }
}
