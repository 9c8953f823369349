// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Which frames are shown, and when. */
class PlaybackTest {

    private static final long PERIOD = 10;

    private final SteppedClock clock = new SteppedClock();
    private final Recorded stage = new Recorded();

    /** Frames that are there as soon as they are requested, except frames that take time or fail. */
    private final class Recorded implements Playback.Stage {

        private final List<Long> fetched = new ArrayList<>();
        private final List<Long> shown = new ArrayList<>();
        private final List<Long> times = new ArrayList<>();
        private final Map<Long, Long> showing = new HashMap<>();
        private final Map<Long, Long> fetching = new HashMap<>();
        private final Map<Long, Mono<Void>> ending = new HashMap<>(); // of showing, later
        private final Map<Long, RuntimeException> failures = new HashMap<>();
        private final Map<Long, Duration> limits = new HashMap<>();
        private long latency; // of every frame; a deadline before it is passed

        @Override
        public Mono<Void> fetch(long frame, @Nullable Duration limit) {
            return Mono.fromRunnable(() -> {
                fetched.add(frame);
                if (limit != null) {
                    limits.put(frame, limit);
                }
                clock.pass(fetching.getOrDefault(frame, 0L));
                if (limit != null && limit.toNanos() < latency) {
                    clock.pass(limit.toNanos());
                    throw new TransientStorageException("exceeded its deadline", Failure.NOT_STARTED, null);
                }
                clock.pass(latency);
                if (failures.containsKey(frame)) {
                    throw failures.get(frame);
                }
            });
        }

        @Override
        public Mono<Void> show(long frame) {
            return Mono.fromRunnable(() -> {
                        shown.add(frame);
                        times.add(clock.nanos());
                        clock.pass(showing.getOrDefault(frame, 0L));
                    })
                    .then(ending.getOrDefault(frame, Mono.empty()));
        }
    }

    private Playback.Result play(long period, int places, long frames) {
        return Objects.requireNonNull(
                new Playback(clock, stage, period, places).play(frames).block());
    }

    @Test
    void withoutATimeEachIsShownWhenItIsThere() {
        stage.showing.put(1L, 1_000_000L);
        stage.fetching.put(2L, 1_000_000L);
        Playback.Result result = play(0, 3, 5);
        assertThat(stage.shown).containsExactly(0L, 1L, 2L, 3L, 4L);
        assertThat(stage.limits).isEmpty();
        assertThat(result).isEqualTo(new Playback.Result(5, 0, 5, 2_000_000));
    }

    @Test
    void eachWaitsForItsTimeWhichBeginsWhenTheFirstIsThere() {
        stage.fetching.put(0L, 500L);
        assertThat(play(PERIOD, 2, 4)).isEqualTo(new Playback.Result(4, 0, 4, 500 + 3 * PERIOD));
        assertThat(stage.times).containsExactly(1_500L, 1_510L, 1_520L, 1_530L);
    }

    @Test
    void aFrameThatIsDueWhileAnotherIsShownTooLongIsDroppedAndNotFetched() {
        stage.showing.put(3L, 35L); // shown from 30 to 65: 4's time has passed at 50, 5's at 60
        Playback.Result result = play(PERIOD, 2, 9);
        assertThat(stage.shown).containsExactly(0L, 1L, 2L, 3L, 6L, 7L, 8L);
        assertThat(stage.fetched).containsExactly(0L, 1L, 2L, 3L, 6L, 7L, 8L);
        assertThat(result).isEqualTo(new Playback.Result(7, 2, 7, 80));
        assertThat(stage.times).endsWith(1_065L, 1_070L, 1_080L);
    }

    @Test
    void aFrameThatWasReadAheadIsDroppedTooWhenItIsLate() {
        Sinks.Empty<Void> third = Sinks.empty();
        stage.ending.put(3L, third.asMono());
        AtomicReference<Playback.Result> result = new AtomicReference<>();
        new Playback(clock, stage, PERIOD, 4).play(9).subscribe(result::set);
        assertThat(stage.fetched).as("while 3 is shown").containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
        clock.pass(35);
        third.tryEmitEmpty().orThrow();
        assertThat(stage.shown).containsExactly(0L, 1L, 2L, 3L, 6L, 7L, 8L);
        assertThat(result).hasValue(new Playback.Result(7, 2, 9, 80));
    }

    @Test
    void framesBeforeOneThatFailsAreShown() {
        Sinks.Empty<Void> first = Sinks.empty();
        stage.ending.put(1L, first.asMono());
        stage.failures.put(3L, new PermanentStorageException("no such frame", Failure.NOT_STARTED, null));
        AtomicReference<Throwable> failure = new AtomicReference<>();
        new Playback(clock, stage, 0, 4).play(9).subscribe(result -> {}, failure::set);
        assertThat(stage.fetched).as("while 1 is shown").contains(3L);
        assertThat(failure).hasNullValue();
        first.tryEmitEmpty().orThrow();
        assertThat(stage.shown).containsExactly(0L, 1L, 2L);
        assertThat(failure.get()).hasMessageContaining("no such frame");
    }

    @Test
    void aFrameMayTakeAsLongAsUntilTheNextIsDue() {
        play(PERIOD, 2, 3);
        assertThat(stage.limits).containsOnlyKeys(1L, 2L);
        assertThat(stage.limits.get(1L)).isEqualTo(Duration.ofNanos(2 * PERIOD));
        assertThat(stage.limits.get(2L)).isEqualTo(Duration.ofNanos(2 * PERIOD));
    }

    @Test
    void aTransferThatExceedsItsDeadlineIsADroppedFrame() {
        stage.fetching.put(2L, 25L);
        stage.failures.put(2L, new TransientStorageException("exceeded its deadline", Failure.NOT_STARTED, null));
        Playback.Result result = play(PERIOD, 2, 5);
        assertThat(stage.shown).containsExactly(0L, 1L, 3L, 4L);
        assertThat(result.dropped()).isEqualTo(1);
        assertThat(result.fetched()).isEqualTo(4);
    }

    @Test
    void aSlowDiskIsOnlyAskedForFramesThatCanArriveInTime() {
        stage.latency = 35;
        Playback.Result result = play(PERIOD, 2, 100);
        assertThat(result.shown() + result.dropped()).isEqualTo(100);
        // One every 35 at best, which is 28 in the time of 100; requesting only ever the next would show one.
        assertThat(result.shown()).isBetween(10L, 29L);
        assertThat(stage.fetched).as("most are not even tried").hasSizeLessThan(50);
    }

    @Test
    void aReadErrorIsReportedAndNotADroppedFrame() {
        stage.fetching.put(2L, 1_000L);
        NativeError eio = new NativeError("read", 5, "EIO");
        stage.failures.put(2L, new PermanentStorageException("EIO", new Failure(Outcome.UNKNOWN, eio), null));
        assertThatThrownBy(() -> play(PERIOD, 2, 5))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessage("EIO");
        assertThat(stage.shown).containsExactly(0L, 1L);
    }

    @Test
    void aFailureBeforeTheTimeIsNoLateness() {
        stage.failures.put(2L, new TransientStorageException("busy", Failure.NOT_STARTED, null));
        assertThatThrownBy(() -> play(PERIOD, 2, 5)).hasMessage("busy");
    }
}
