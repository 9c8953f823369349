// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.video;

import java.time.Duration;
import reactor.core.publisher.Mono;

/** The time that frames are held against. */
public interface FrameClock {

    /** The time of the machine. */
    FrameClock SYSTEM = new FrameClock() {
        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public Mono<Void> until(long nanos) {
            return Mono.defer(() -> {
                long left = nanos - nanos();
                return left <= 0
                        ? Mono.empty()
                        : Mono.delay(Duration.ofNanos(left)).then();
            });
        }
    };

    /** Returns the time, in nanoseconds from some point on. */
    long nanos();

    /** Returns what completes when it is that late; at once if it is. */
    Mono<Void> until(long nanos);
}
