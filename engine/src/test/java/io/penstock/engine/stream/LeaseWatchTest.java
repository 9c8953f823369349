// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.HostLease;
import io.penstock.WritePlan;
import io.penstock.engine.FakeFence;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** The reports of leases that are held for long, by a clock that the test moves. */
class LeaseWatchTest extends StreamFixture {

    private static final Duration MOMENT = Duration.ofMillis(1);

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final PrintStream before = System.err;
    private final List<HostLease> kept = new ArrayList<>();
    private VirtualTimeScheduler clock;

    @BeforeEach
    void stopTheClock() {
        clock = VirtualTimeScheduler.getOrSet();
        LeaseWatch.forget();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void goOn() {
        System.setErr(before);
        VirtualTimeScheduler.reset();
        kept.forEach(HostLease::close);
        port.runAll();
    }

    private String said() {
        return log.toString(StandardCharsets.UTF_8);
    }

    private void pass(Duration time) {
        clock.advanceTimeBy(time);
        port.runAll();
    }

    private TestSubscriber<Long> retaining() {
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            kept.add(chunk.retain());
            return Mono.just(chunk.index());
        });
        port.runAll();
        return subscriber;
    }

    @Test
    void aStreamThatWaitsForForgottenLeasesNamesTheOldestOneOnce() {
        TestSubscriber<Long> subscriber = retaining();
        pass(LeaseWatch.PATIENCE.minus(MOMENT));
        assertThat(said()).isEmpty();
        pass(MOMENT);
        assertThat(said())
                .contains("WARN")
                .contains("the stream of weights.bin has waited for 10 s for the lease of chunk 0 of 100 bytes at 0")
                .contains("retain()");
        pass(Duration.ofHours(1));
        assertThat(said()).containsOnlyOnce("has waited");
        assertThat(subscriber.getReceivedOnNext()).hasSize(3);
        assertThat(clock.getScheduledTaskCount()).isOne();
        subscriber.cancel();
    }

    @Test
    void leasesThatAreClosedInTimeAreNotMentioned() {
        TestSubscriber<Long> subscriber = retaining();
        for (int i = 0; i < 10; i++) {
            pass(LeaseWatch.PATIENCE.minus(MOMENT));
            kept.get(i).close();
            port.runAll();
        }
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        pass(Duration.ofHours(1));
        assertThat(said()).isEmpty();
    }

    /** The lease that is waited for when the timer ends has not been waited for as long: the timer begins anew. */
    @Test
    void aLaterLeaseThatIsForgottenIsNamedToo() {
        TestSubscriber<Long> subscriber = retaining();
        pass(LeaseWatch.PATIENCE.minus(MOMENT));
        kept.get(0).close();
        port.runAll();
        pass(LeaseWatch.PATIENCE);
        assertThat(said()).isEmpty();
        pass(LeaseWatch.PATIENCE);
        assertThat(said()).contains("the lease of chunk 1 of 100 bytes at 100");
        subscriber.cancel();
    }

    @Test
    void aStreamThatContinuesWithOtherBuffersOrWaitsForDemandArmsNoTimer() {
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            if (chunk.index() == 0) {
                kept.add(chunk.retain());
            }
            return chunk.index() < 5 ? Mono.just(chunk.index()) : Mono.never();
        });
        port.runAll();
        assertThat(clock.getScheduledTaskCount()).isZero();
        subscriber.cancel();
        port.runAll();
    }

    @Test
    void aStreamThatIsCancelledMeanwhileIsNotMentioned() {
        retaining().cancel();
        port.runAll();
        pass(Duration.ofHours(1));
        assertThat(said()).isEmpty();
    }

    @Test
    void aFenceThatIsNeverSignalledIsNamedByItsChunkAlsoBehindTheLast() {
        List<FakeFence> fences = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            FakeFence fence = new FakeFence();
            fences.add(fence);
            if (chunk.index() < 9) {
                fence.pass();
            }
            return chunk.releaseAfter(fence).thenReturn(chunk.index());
        });
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(10);
        assertThat(subscriber.isTerminated()).isFalse();
        pass(LeaseWatch.PATIENCE);
        assertThat(said()).contains("chunk 9 of 100 bytes at 900");
        fences.get(9).pass();
        port.runAll();
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void aWriteThatWaitsForAForgottenLeaseNamesIt() {
        TestSubscriber<Long> subscriber = TestSubscriber.create();
        new MonoWrite(port, WritePlan.to(Path.of("frames.raw")).chunkBytes(100).depth(3), chunk -> {
                    kept.add(chunk.retain());
                    return Mono.just(chunk.index() == 0 ? 10L : 0L);
                })
                .subscribe(subscriber);
        port.runAll();
        pass(LeaseWatch.PATIENCE);
        assertThat(said())
                .contains("the write to frames.raw has waited for 10 s for the lease of chunk 0 of 100 bytes at 0");
        assertThat(subscriber.isTerminated()).isFalse();
        kept.forEach(HostLease::close);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(10L);
    }

    @Test
    void manyStreamsWarnOnceInAWhile() {
        TestSubscriber<Long> one = retaining();
        TestSubscriber<Long> other = retaining();
        pass(LeaseWatch.PATIENCE);
        assertThat(said()).containsOnlyOnce("has waited");
        pass(LeaseWatch.QUIET);
        TestSubscriber<Long> third = retaining();
        pass(LeaseWatch.PATIENCE);
        assertThat(said().split("has waited", -1)).hasSize(3);
        List.of(one, other, third).forEach(TestSubscriber::cancel);
    }
}
