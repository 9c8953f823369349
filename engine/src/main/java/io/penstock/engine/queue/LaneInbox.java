// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.NativeQueue;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Collection;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * What has reached a lane and is not taken in yet, transfers and actions, and whether the lane must be woken for it.
 *
 * <p><b>Threading:</b> {@link #accept} and {@link #post} on any thread; everything else on the lane's own.
 */
final class LaneInbox {

    /** How many messages one turn takes in, so that a flood of them does not keep completions waiting. */
    private static final int MOST_MESSAGES = 1024;

    private static final VarHandle PARKED;

    static {
        try {
            PARKED = MethodHandles.lookup().findVarHandle(LaneInbox.class, "parked", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final NativeQueue queue;

    // The only field, with parked, that other threads touch.
    private final MpscUnboundedVarHandleArrayQueue<Object> messages =
            new MpscUnboundedVarHandleArrayQueue<>(MOST_MESSAGES);

    @SuppressWarnings("unused") // through PARKED
    private volatile boolean parked;

    // What is opened on the lane itself, as by the deliveries of a direct subscriber, needs no queue. Written by that
    // thread before its first turn; no other thread ever finds itself here, whatever it reads.
    private @Nullable Thread owner;
    private final ArrayDeque<OpenTransfer> opened = new ArrayDeque<>();

    // Set once, by the lane's thread, when a bug of the engine's or of a driver's ended it.
    private volatile @Nullable Throwable broken;

    private boolean sees; // completions, in this turn of the queue

    /** Makes that of a lane, which waits in {@code queue}. */
    LaneInbox(NativeQueue queue) {
        this.queue = queue;
    }

    /** Takes a transfer in; any thread. */
    void accept(OpenTransfer transfer) {
        if (Thread.currentThread() == owner && broken == null) {
            opened.add(transfer);
        } else {
            tell(transfer);
        }
    }

    /** Takes in a request that belongs to no transfer; any thread. */
    void accept(SingleRequest request) {
        tell(request);
    }

    /** Takes in what the lane is to do; any thread. */
    void post(Runnable action) {
        tell(action);
    }

    private void tell(Object message) {
        messages.offer(message);
        // Pairs with sleep(): offer, then look whether it sleeps; there: say that it sleeps, then look at the messages.
        // Both are volatile, so one of the two sees the other (no lost wake-up).
        // A lane that sees completions tells itself: its queue waits no more in this turn whatever parked says.
        boolean awake = Thread.currentThread() == owner && sees;
        if (!awake && (boolean) PARKED.getVolatile(this) && PARKED.compareAndSet(this, true, false)) {
            queue.wake();
        }
        Throwable cause = broken; // pairs with refuse() and takeRest(), which follow one another: both may signal
        if (cause != null && message instanceof OpenTransfer transfer) {
            transfer.abandon(Failures.broken(transfer.transfer(), cause));
        } else if (cause != null && message instanceof SingleRequest single) {
            single.lose(Failures.broken(single.asked(), cause));
        }
    }

    // The lane's thread.

    /** Makes the calling thread the lane's, from now on. */
    void runHere() {
        owner = Thread.currentThread();
    }

    /** Returns whether nothing has reached the lane. */
    boolean isEmpty() {
        return opened.isEmpty() && messages.isEmpty();
    }

    /** Called before the queue is turned: it has reported no completion yet. */
    void turns() {
        sees = false;
    }

    /** Called when the queue reports a completion: it waits no more in this turn. */
    void sees() {
        sees = true;
    }

    /**
     * Announces that the lane is about to wait in its queue, where others wake it; returns false if it must not, since
     * messages have arrived.
     */
    boolean sleep() {
        if (!opened.isEmpty()) {
            return false;
        }
        PARKED.setVolatile(this, true);
        if (!messages.isEmpty()) { // pairs with tell()
            PARKED.setVolatile(this, false);
            return false;
        }
        return true;
    }

    /** Called when it waits no more. */
    void awake() {
        PARKED.setVolatile(this, false);
    }

    /** Hands over what has come, a turn's share of it. */
    void takeTo(Lane lane) {
        for (OpenTransfer transfer = opened.poll(); transfer != null; transfer = opened.poll()) {
            lane.arrive(transfer);
        }
        for (int taken = 0; taken < MOST_MESSAGES; taken++) {
            Object message = messages.poll();
            if (message == null) {
                return;
            }
            if (message instanceof OpenTransfer transfer) {
                lane.arrive(transfer);
            } else if (message instanceof SingleRequest single) {
                lane.start(single);
            } else {
                ((Runnable) message).run();
            }
        }
    }

    /** Refuses what comes from now on: the lane is turned no more. */
    void refuse(Throwable cause) {
        broken = cause;
    }

    /** Adds the transfers and single requests that have come to these, and drops actions. */
    void takeRest(Collection<OpenTransfer> all, Collection<SingleRequest> singles) {
        all.addAll(opened);
        opened.clear();
        for (Object message = messages.poll(); message != null; message = messages.poll()) {
            if (message instanceof OpenTransfer transfer) {
                all.add(transfer);
            } else if (message instanceof SingleRequest single) {
                singles.add(single);
            }
        }
    }
}
