// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.video;

import io.penstock.PenstockException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Shows frames when they are due, while the next are fetched. A frame that has not come by the time that the one after it is
 * due is dropped: while it is fetched, by its deadline; before, if the time has come by then; and after, if what was shown
 * before took too long. One that has less time left than fetching was seen to take is not even tried, so that a disk too slow
 * for all frames is asked for those that it can bring in time.
 *
 * <p>The clock starts when the first frame is there. Each is used once.
 */
public final class Playback {

    /** Where frames come from, and where they are seen. */
    public interface Stage {

        /**
         * Fetches a frame into one of as many places as there are frames ahead.
         *
         * @param limit how long it may take, or null
         */
        Mono<Void> fetch(long frame, @Nullable Duration limit);

        /** Shows the frame that was fetched. */
        Mono<Void> show(long frame);
    }

    /**
     * What became of the frames.
     *
     * @param fetched those that have come, in time or not
     */
    public record Result(long shown, long dropped, long fetched, long nanos) {}

    private final FrameClock clock;
    private final Stage stage;
    private final long periodNanos;
    private final int ahead;

    // Written in the order of the frames, by whoever shows one; read while others are fetched.
    private volatile boolean started;
    private volatile long start;
    private volatile long need; // what a fetch takes, roughly: whoever ends last says it
    private long learned; // guarded by this: when a fetch that was too late has said it
    private long shown;
    private long dropped;
    private long fetched;

    /**
     * Prepares to play.
     *
     * @param periodNanos from one frame to the next; 0 to show each when it is there, and drop none
     * @param places how many frames there is room for, at least 2: the one that is shown, and those that are fetched
     */
    public Playback(FrameClock clock, Stage stage, long periodNanos, int places) {
        if (periodNanos < 0 || places < 2) {
            throw new IllegalArgumentException(
                    "period must be at least 0 ns and places at least 2, were " + periodNanos + " and " + places);
        }
        this.clock = clock;
        this.stage = stage;
        this.periodNanos = periodNanos;
        this.ahead = places - 1;
    }

    /** Plays frames 0 to {@code frames}. */
    public Mono<Result> play(long frames) {
        long begun = clock.nanos();
        return Flux.<Long, Long>generate(() -> 0L, (frame, next) -> {
                    if (frame < frames) {
                        next.next(frame);
                    } else {
                        next.complete();
                    }
                    return frame + 1;
                })
                .flatMapSequential(frame -> Mono.defer(() -> fetch(frame)), ahead, 1)
                .index()
                .concatMap(come -> see(come.getT1(), come.getT2()), 0) // asks for the next when this one was seen
                .then(Mono.fromSupplier(() -> new Result(shown, dropped, fetched, clock.nanos() - begun)));
    }

    /** Answers whether it has come. */
    private Mono<Boolean> fetch(long frame) {
        if (periodNanos == 0 || !started) {
            return stage.fetch(frame, null).thenReturn(true);
        }
        long asked = clock.nanos();
        long left = deadline(frame) - asked;
        if (left <= 0 || left < need) {
            return Mono.just(false);
        }
        return stage.fetch(frame, Duration.ofNanos(left))
                .doOnSuccess(come -> need = Math.min(need, clock.nanos() - asked))
                .thenReturn(true)
                .onErrorResume(failure -> isLate(failure, frame), failure -> {
                    learn(asked);
                    return Mono.just(false);
                });
    }

    /** By doubling, once for all that are fetched at a time: a single hiccup must not cost as many frames again. */
    private synchronized void learn(long asked) {
        if (asked - learned >= 0) {
            need = Math.max(2 * need, periodNanos / 2);
            learned = clock.nanos();
        }
    }

    /** A transfer that has passed its deadline fails without an answer of the system's. */
    private boolean isLate(Throwable failure, long frame) {
        return failure instanceof PenstockException passed
                && passed.nativeError().isEmpty()
                && clock.nanos() - deadline(frame) >= 0;
    }

    private Mono<Void> see(long frame, boolean come) {
        if (!started) {
            start = clock.nanos();
            begin(start);
        }
        fetched += come ? 1 : 0;
        if (!come || (periodNanos > 0 && clock.nanos() - deadline(frame) >= 0)) {
            dropped++;
            return Mono.empty();
        }
        Mono<Void> due = periodNanos == 0 ? Mono.empty() : clock.until(start + frame * periodNanos);
        return due.then(Mono.defer(() -> stage.show(frame))).doOnSuccess(done -> shown++);
    }

    private synchronized void begin(long now) {
        learned = now;
        started = true;
    }

    private long deadline(long frame) {
        return start + (frame + 1) * periodNanos;
    }
}
