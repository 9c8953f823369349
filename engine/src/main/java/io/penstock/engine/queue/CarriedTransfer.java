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
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Route;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A transfer on its way: which route carries it, since when, how far it came and what stopped it; all that its
 * completion tells.
 *
 * <p><b>Threading:</b> what it was given before the lane got it is there for the lane; the rest is the lane's.
 */
public abstract class CarriedTransfer {

    private final Transfer transfer;
    private final long subscribedNanos = nanos();

    // Before the lane gets it.
    private @Nullable Route route;
    private int routeIndex;

    // Lane only.
    private long startedNanos;
    private long endedNanos;
    private long bytes;
    private @Nullable Reach reach; // null while nothing fell short
    private @Nullable NativeFailure failure;
    private @Nullable Throwable error;
    boolean expired;

    CarriedTransfer(Transfer transfer) {
        this.transfer = transfer;
    }

    // To ask the clock would cost as much as a tenth of all that the lane does for a small transfer.
    private static long nanos() {
        return Thread.currentThread() instanceof LaneThread thread
                ? thread.lane().now()
                : System.nanoTime();
    }

    public final Transfer transfer() {
        return transfer;
    }

    /** Sets the route that carries it, and the route's index. */
    final void goBy(Route route, int routeIndex) {
        this.route = route;
        this.routeIndex = routeIndex;
    }

    /** Returns the route that carries it. */
    final Route route() {
        return Objects.requireNonNull(route);
    }

    final int routeIndex() {
        return routeIndex;
    }

    final void started(long nanos) {
        if (startedNanos == 0) {
            startedNanos = nanos;
        }
    }

    final void endedAt(long nanos) {
        endedNanos = nanos;
    }

    /** Counts bytes that were moved, wherever they are. */
    final void moved(long more) {
        bytes += more;
    }

    /** Takes in that a piece moved less than all of its bytes; as {@link Reach#fellShort}. */
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

    /** Ends with {@code cause}, whatever it was before. */
    final void failWith(Throwable cause) {
        error = cause;
    }

    /** Returns whether anything stands in the way of what is left of it. */
    final boolean hasFailed() {
        return failure != null || error != null || expired;
    }

    /** Turns what stood in its way into the error of its completion. */
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
                // The device refused to begin; had it begun, it would have said how far it came.
                new TransientStorageException(
                        message, hasMoved() ? facts : new Failure(Outcome.NOT_STARTED, cause.error()), null);
            case LOST -> new DeviceLostException(message, facts, null);
            case PERMANENT, CANCELLED -> new PermanentStorageException(message, facts, null);
        };
    }

    private PenstockException passedDeadline() {
        String message = transfer + " passed its deadline of "
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
        return new Failed(this, cause);
    }

    /** Returns the bytes moved, without those beyond a gap. */
    final long bytes() {
        return reach == null ? bytes : reach.bytes();
    }

    /** Returns whether any byte was moved, wherever it is. */
    final boolean hasMoved() {
        return bytes > 0;
    }

    /** Returns how far each pair came; null where all that was started came to its end. */
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
