// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Outcome;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.Wakeup;
import java.util.ArrayDeque;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Transfers and actions that were sent to an I/O queue and not taken yet; decides whether the I/O queue must be woken.
 *
 * <p><b>Threading:</b> {@link #accept}, {@link #offer} and {@link #isBehind} on any thread; everything else on the I/O
 * queue's thread.
 */
final class QueueInbox {

    /** The maximum number of messages per turn, so that a flood of them does not delay completions. */
    private static final int MOST_MESSAGES = 1024;

    private final Wakeup wakeup;

    private final MpscUnboundedVarHandleArrayQueue<Object> messages =
            new MpscUnboundedVarHandleArrayQueue<>(MOST_MESSAGES);

    // A transfer opened on the I/O queue's thread, as by a direct subscriber, needs no queue. Written by that thread
    // before its first turn; no other thread ever compares equal, whatever it reads.
    private @Nullable Thread owner;
    private final ArrayDeque<OpenTransfer> opened = new ArrayDeque<>();

    private volatile boolean full; // written by the I/O thread

    // Set once, by the I/O thread, when a bug in the engine or a driver ended it.
    private volatile @Nullable Throwable broken;

    /** Creates the inbox of an I/O queue. */
    QueueInbox(Wakeup wakeup) {
        this.wakeup = wakeup;
        wakeup.checkFor(() -> !isEmpty());
    }

    /** Adds a transfer; any thread. */
    void accept(OpenTransfer transfer) {
        if (Thread.currentThread() == owner && broken == null) {
            opened.add(transfer);
        } else {
            offer(transfer);
        }
    }

    /** Returns whether messages wait for the thread, or requests for others to end; any thread. */
    boolean isBehind() {
        return full || !messages.isEmpty();
    }

    /** Adds a request that belongs to no transfer, or an action for the I/O queue; any thread. */
    void offer(Object message) {
        messages.offer(message);
        wakeup.rouse(); // offered first: an I/O queue that is about to wait checks the messages
        Throwable cause = broken; // pairs with refuse(): each adds or sets first, then looks for the other's
        if (cause != null) {
            refuseMessages(cause);
        }
    }

    /** Refuses what no turn has taken and none will take; no native request was made for it. */
    private void refuseMessages(Throwable cause) {
        for (Object message = pollBroken(); message != null; message = pollBroken()) {
            if (message instanceof OpenTransfer transfer) {
                transfer.drop(Failures.broken(transfer.transfer(), cause, Outcome.NOT_STARTED));
            } else if (message instanceof SingleRequest single) {
                single.refuse(single.ending(Failures.broken(single.description(), cause, Outcome.NOT_STARTED)));
            }
        }
    }

    /** Takes a message as one of several consumers: the I/O queue and those who add, once it is broken. */
    private synchronized @Nullable Object pollBroken() {
        return messages.poll();
    }

    // The I/O thread.

    /** Makes the calling thread the thread of the I/O queue. */
    void runHere() {
        owner = Thread.currentThread();
    }

    /** Tells other threads whether more requests are in flight than the native queue executes at a time. */
    void tell(boolean isFull) {
        if (full != isFull) { // a volatile write takes longer than a read
            full = isFull;
        }
    }

    boolean isEmpty() {
        return opened.isEmpty() && messages.isEmpty();
    }

    /** Passes messages to the I/O queue, at most one turn's share; returns their number. */
    int takeTo(IoQueue ioQueue) {
        int count = 0;
        for (OpenTransfer transfer = opened.poll(); transfer != null; transfer = opened.poll()) {
            ioQueue.arrive(transfer);
            count++;
        }
        for (int taken = 0; taken < MOST_MESSAGES; taken++) {
            Object message = messages.poll();
            if (message == null) {
                break;
            }
            count++;
            if (message instanceof OpenTransfer transfer) {
                ioQueue.arrive(transfer);
            } else if (message instanceof SingleRequest single) {
                ioQueue.start(single);
            } else {
                ((Runnable) message).run();
            }
        }
        return count;
    }

    /** Refuses all messages, those that were sent and all later ones, and drops actions: no further turn will run. */
    void refuse(Throwable cause) {
        messages.addAll(opened);
        opened.clear();
        broken = cause;
        refuseMessages(cause);
    }
}
