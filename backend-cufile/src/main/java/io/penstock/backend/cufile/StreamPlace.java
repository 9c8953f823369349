// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.Transfer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Says, among the fences of a transfer, which stream carries it, and from where that is to know how much. Passed as far as the host is concerned: the stream
 * orders the copies.
 *
 * @param stream the application's
 * @param context the stream's
 * @param size how many bytes, where that is known late; null where the transfer says it
 */
record StreamPlace(long stream, long context, @Nullable LateSize size) implements DeviceFence {

    /** Why a way other than cuFile's stream calls refuses a size that is known late. */
    static final String ONLY_BY_STREAMS =
            "only cuFile's stream calls (" + CufileOptions.PATH + "=stream) take a size that is known late";

    /** Returns whether a transfer has a size that is known late. */
    static boolean isSizedLate(Transfer transfer) {
        StreamPlace place = of(transfer);
        return place != null && place.size != null;
    }

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
