// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.Transfer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Says, among the fences of a transfer, which command queue carries it. Passed as far as the host is concerned: the queue
 * orders the copies.
 *
 * @param queue the application's
 * @param context the queue's
 */
record QueuePlace(long queue, long context) implements DeviceFence {

    /** Returns the place that a transfer asks for, the last if several; null if none. */
    static @Nullable QueuePlace of(Transfer transfer) {
        QueuePlace place = null;
        for (DeviceFence fence : transfer.after()) {
            if (fence instanceof QueuePlace asked) {
                place = asked;
            }
        }
        return place;
    }

    @Override
    public boolean isSignalled() {
        return true;
    }

    @Override
    public Mono<Void> signalled() {
        return Mono.empty();
    }

    @Override
    public Mono<Completion> outcome() {
        return Mono.empty();
    }

    @Override
    public long nativeHandle() {
        return 0;
    }

    @Override
    public void close() {}
}
