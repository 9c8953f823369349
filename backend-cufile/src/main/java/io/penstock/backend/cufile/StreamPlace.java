// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.Transfer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Says, among the fences of a transfer, which stream carries it. Passed as far as the host is concerned: the stream
 * orders the copies.
 *
 * @param stream the application's
 * @param context the stream's
 */
record StreamPlace(long stream, long context) implements DeviceFence {

    /** Returns the place that a transfer asks for, the last if several; null if none. */
    static @Nullable StreamPlace of(Transfer transfer) {
        StreamPlace place = null;
        for (DeviceFence fence : transfer.after()) {
            if (fence instanceof StreamPlace asked) {
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
