// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Completion;
import io.penstock.DeviceLostException;
import io.penstock.FailedCompletion;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.engine.plan.Reach;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.NativeFailure;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A transfer in progress: its path, start time, progress and failure; everything that its completion reports.
 *
 * <p><b>Threading:</b> fields set before the handover to the I/O queue are visible to it; the rest is used by the I/O
 * queue only.
 */
public abstract class CarriedTransfer {

    private final Transfer transfer;
    private final long subscribedNanos = nanos();

    // Before the handover to the I/O queue.
    private @Nullable IoPath ioPath;
    private int pathIndex;

    // I/O queue only.
    private long startedNanos;
    private long endedNanos;
    private long bytes;
    private @Nullable Reach reach; // null until a segment falls short
    private @Nullable NativeFailure failure;
    private @Nullable Throwable error;
    boolean expired;

    CarriedTransfer(Transfer transfer) {
        this.transfer = transfer;
    }

    // Reading the clock would cost as much as a tenth of the I/O queue's work for a small transfer.
    private static long nanos() {
        return Thread.currentThread() instanceof IoThread thread
                ? thread.ioQueue().now()
                : System.nanoTime();
    }

    public final Transfer transfer() {
        return transfer;
    }

    /** Sets the path that carries it, and the path's index. */
    final void goBy(IoPath ioPath, int pathIndex) {
        this.ioPath = ioPath;
        this.pathIndex = pathIndex;
    }

    /** Returns the path that carries it. */
    final IoPath ioPath() {
        return Objects.requireNonNull(ioPath);
    }

    final int pathIndex() {
        return pathIndex;
    }

    final void started(long nanos) {
        if (startedNanos == 0) {
            startedNanos = nanos;
        }
    }

    final void endedAt(long nanos) {
        endedNanos = nanos;
    }

    /** Counts bytes that were moved, at any position. */
    final void moved(long more) {
        bytes += more;
    }

    /** Records that a segment moved less than all of its bytes; as {@link Reach#fellShort}. */
    final void fellShort(int pair, long skip, long bytes, long moved) {
        Reach made = reach;
        if (made == null) {
            made = new Reach(transfer);
            reach = made;
        }
        made.fellShort(pair, skip, bytes, moved);
    }

    public final void fail(NativeFailure cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    public final void fail(Throwable cause) {
        if (error == null) {
            error = cause;
        }
    }

    /** Ends with {@code cause}, replacing any earlier failure. */
    final void failWith(Throwable cause) {
        error = cause;
    }

    /** Returns true if a failure prevents the rest of it. */
    final boolean hasFailed() {
        return failure != null || error != null || expired;
    }

    /** Converts the failure into the error of its completion. */
    final void settle(boolean cancelled) {
        if (error == null && failure != null) {
            error = failed(failure);
        } else if (error == null && expired) {
            error = passedDeadline();
        } else if (error == null && reach != null && !cancelled) {
            error = Failures.movedNothing(transfer);
        }
    }

    private PenstockException failed(NativeFailure cause) {
        Failure facts = facts(cause.error());
        String message = transfer + " failed: " + cause;
        return switch (cause.kind()) {
            case RETRY, TRANSIENT ->
                // The device refused to start; otherwise it would have reported its progress.
                new TransientStorageException(
                        message, hasMoved() ? facts : new Failure(Outcome.NOT_STARTED, cause.error()), null);
            case LOST -> new DeviceLostException(message, facts, null);
            case PERMANENT, CANCELLED -> new PermanentStorageException(message, facts, null);
        };
    }

    private PenstockException passedDeadline() {
        String message = transfer + " exceeded its deadline of "
                + transfer.deadline().orElseThrow() + " with " + bytes() + " bytes moved";
        return startedNanos == 0
                ? new TransientStorageException(message, Failure.NOT_STARTED, null)
                : new PermanentStorageException(message, facts(null), null);
    }

    private Failure facts(@Nullable NativeError nativeError) {
        if (startedNanos == 0) {
            return new Failure(Outcome.NOT_STARTED, nativeError);
        }
        return reach != null && reach.bytes() > 0
                ? new Failure(Outcome.PARTIAL, nativeError, reach.byPair())
                : new Failure(Outcome.UNKNOWN, nativeError);
    }

    /** Returns why it failed, or null. */
    public final @Nullable Throwable error() {
        return error;
    }

    /** Returns the result as a value. */
    public final Completion completion() {
        return new Finished(this);
    }

    /** Returns the failure as a value. */
    public final FailedCompletion failedCompletion() {
        Throwable cause = error;
        if (cause == null) {
            throw new IllegalStateException(transfer + " did not fail");
        }
        return new Finished.Failed(this, cause);
    }

    /** Returns the bytes moved, without those beyond a gap. */
    final long bytes() {
        return reach == null ? bytes : reach.bytes();
    }

    /** Returns true if any byte was moved, at any position. */
    final boolean hasMoved() {
        return bytes > 0;
    }

    /** Returns the progress of each pair; null if every segment that was started moved all its bytes. */
    final @Nullable Reach reach() {
        return reach;
    }

    final long subscribedNanos() {
        return subscribedNanos;
    }

    final long startedNanos() {
        return startedNanos;
    }

    final long endedNanos() {
        return endedNanos;
    }
}
