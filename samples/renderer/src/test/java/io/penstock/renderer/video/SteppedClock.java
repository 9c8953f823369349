// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.video;

import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/** A clock that the test moves: who waits is there at once, and only what takes time takes time. */
public final class SteppedClock implements FrameClock {

    private final AtomicLong now = new AtomicLong(1_000);

    @Override
    public long nanos() {
        return now.get();
    }

    @Override
    public Mono<Void> until(long nanos) {
        return Mono.fromRunnable(() -> now.accumulateAndGet(nanos, Math::max));
    }

    /** Has time pass. */
    public void pass(long nanos) {
        now.addAndGet(nanos);
    }
}
