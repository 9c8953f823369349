// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.engine.plan.Reach;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.NativeFailure;
import org.jspecify.annotations.Nullable;

/**
 * How far a transfer got that does not move all its bytes, and why it failed, if it did; most transfers have none.
 *
 * <p><b>Threading:</b> as {@link OpenTransfer}, whose part it is.
 */
final class Shortfall {

    private final Transfer transfer;
    private @Nullable Reach reach; // null until a segment falls short
    private @Nullable NativeFailure failure;
    private @Nullable Throwable error;
    private boolean expired;

    Shortfall(Transfer transfer) {
        this.transfer = transfer;
    }

    /** Records that a segment moved less than all of its bytes; as {@link Reach#fellShort}. */
    void fellShort(int pair, long skip, long bytes, long moved) {
        Reach made = reach;
        if (made == null) {
            made = new Reach(transfer);
            reach = made;
        }
        made.fellShort(pair, skip, bytes, moved);
    }

    void fail(NativeFailure cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    void fail(Throwable cause) {
        if (error == null) {
            error = cause;
        }
    }

    /** Fails with {@code cause}, replacing any earlier failure. */
    void failWith(Throwable cause) {
        error = cause;
    }

    /** Fails since the deadline has passed. */
    void expire() {
        expired = true;
    }

    /** Returns true if a failure prevents the rest of the transfer. */
    boolean isFailure() {
        return failure != null || error != null || expired;
    }

    /**
     * Converts the failure into the error of the completion.
     *
     * @param started whether any segment was started
     * @param moved the bytes moved, at any position
     */
    void settle(boolean cancelled, boolean started, long moved) {
        if (error == null && failure != null) {
            error = failed(failure, started, moved);
        } else if (error == null && expired) {
            error = passedDeadline(started, reach == null ? moved : reach.bytes());
        } else if (error == null && reach != null && !cancelled) {
            error = Failures.movedNothing(transfer);
        }
    }

    private PenstockException failed(NativeFailure cause, boolean started, long moved) {
        Failure facts = facts(started, cause.error());
        String message = transfer + " failed: " + cause;
        return switch (cause.kind()) {
            case RETRY, TRANSIENT ->
                // The device refused to start; otherwise it would have reported its progress.
                new TransientStorageException(
                        message, moved > 0 ? facts : new Failure(Outcome.NOT_STARTED, cause.error()), null);
            case LOST -> new DeviceLostException(message, facts, null);
            case PERMANENT, CANCELLED -> new PermanentStorageException(message, facts, null);
        };
    }

    private PenstockException passedDeadline(boolean started, long bytes) {
        String message = transfer + " exceeded its deadline of "
                + transfer.deadline().orElseThrow() + " with " + bytes + " bytes moved";
        return started
                ? new PermanentStorageException(message, facts(true, null), null)
                : new TransientStorageException(message, Failure.NOT_STARTED, null);
    }

    private Failure facts(boolean started, @Nullable NativeError nativeError) {
        if (!started) {
            return new Failure(Outcome.NOT_STARTED, nativeError);
        }
        return reach != null && reach.bytes() > 0
                ? new Failure(Outcome.PARTIAL, nativeError, reach.byPair())
                : new Failure(Outcome.UNKNOWN, nativeError);
    }

    /** Returns why it failed, or null. */
    @Nullable
    Throwable error() {
        return error;
    }

    /** Returns the progress of each pair; null if every segment that was started moved all its bytes. */
    @Nullable
    Reach reach() {
        return reach;
    }
}
