// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.video;

import io.penstock.PenstockException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Shows frames when they are due, while the next are fetched. A frame that has not arrived when the next frame is due
 * is dropped: during its fetch, by its deadline; before it, if that time has passed; and after it, if showing earlier
 * frames took too long. A frame with less time left than recent fetches took is not fetched, so that a disk too slow
 * for all frames reads the frames that arrive in time.
 *
 * <p>The clock starts when the first frame has arrived. A playback is used once.
 */
public final class Playback {

    /** The source of frames, and where they are shown. */
    public interface Stage {

        /**
         * Fetches a frame into one of the places for frames ahead.
         *
         * @param limit how long it may take, or null
         */
        Mono<Void> fetch(long frame, @Nullable Duration limit);

        /** Shows the frame that was fetched. */
        Mono<Void> show(long frame);
    }

    /**
     * Counts of the frames.
     *
     * @param fetched frames that have arrived, in time or not
     */
    public record Result(long shown, long dropped, long fetched, long nanos) {}

    private final FrameClock clock;
    private final Stage stage;
    private final long periodNanos;
    private final int ahead;

    // Written in frame order, on showing one; read while others are fetched.
    private volatile boolean started;
    private volatile long start;
    private volatile long need; // approximate duration of a fetch, set by the last to complete
    private long learned; // guarded by this: when a late fetch last changed it
    private long shown;
    private long dropped;
    private long fetched;

    /**
     * Prepares to play.
     *
     * @param periodNanos from one frame to the next; 0 to show each on arrival, and drop none
     * @param places the number of frames with room, at least 2: the frame being shown, and frames being fetched
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

    /** Plays frames 0 to {@code frames}. A fetch that fails ends the playback once the frames before it were shown. */
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
                .flatMapSequential(frame -> inOrder(Mono.defer(() -> fetch(frame))), ahead, 1)
                .index()
                .concatMap(
                        come -> come.getT2().flatMap(here -> see(come.getT1(), here)),
                        0) // requests the next after this one was shown
                .then(Mono.fromSupplier(() -> new Result(shown, dropped, fetched, clock.nanos() - begun)));
    }

    /** Emits the result, also if it is a failure, so that the frames before one that fails are shown. */
    private static <T> Mono<Mono<T>> inOrder(Mono<T> result) {
        return result.map(Mono::just).onErrorResume(failure -> Mono.just(Mono.error(failure)));
    }

    /** Emits whether it has arrived. */
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

    /** Doubles, once for all concurrent fetches: a single delay must not cost as many frames again. */
    private synchronized void learn(long asked) {
        if (asked - learned >= 0) {
            need = Math.max(2 * need, periodNanos / 2);
            learned = clock.nanos();
        }
    }

    /** A transfer that has exceeded its deadline fails without a result of the system. */
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
