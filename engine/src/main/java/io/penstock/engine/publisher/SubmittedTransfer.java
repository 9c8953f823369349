// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.Completion;
import io.penstock.Transfer;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;

/** A transfer of a {@link FluxSubmit}: the only object allocated for it besides its completion. */
final class SubmittedTransfer extends OpenTransfer {

    private final SubmitSubscription parent;
    private final int place;
    private final int number;

    SubmittedTransfer(Port port, Transfer transfer, SubmitSubscription parent, int place, int number) {
        super(port, transfer);
        this.parent = parent;
        this.place = place;
        this.number = number;
    }

    @Override
    protected boolean mayEndHere() {
        return parent.mayEndHere();
    }

    @Override
    protected void ended() {
        parent.arrived(this, null);
    }

    @Override
    public void ended(IoQueue ioQueue) {
        parent.arrived(this, ioQueue);
    }

    /** Returns its place in the {@link SubmitWindow}. */
    int place() {
        return place;
    }

    /** Returns its sequence number in its publisher; wraps around. */
    int number() {
        return number;
    }

    /** Returns its outcome, as a value in success and in failure. */
    Completion value() {
        return error() == null ? completion() : failedCompletion();
    }
}
