// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.video;

import java.time.Duration;
import reactor.core.publisher.Mono;

/** The clock by which frames are shown. */
public interface FrameClock {

    /** The clock of the machine. */
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

    /** Returns the time in nanoseconds from an arbitrary origin. */
    long nanos();

    /** Returns a {@code Mono} that completes at that time; at once if it is past. */
    Mono<Void> until(long nanos);
}
