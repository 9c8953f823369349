// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ChainLoopTest {

    private static final int DEPTH = 4;
    private static final int BYTES = 512;
    private static final long NANOS = 1_000_000;

    private final ExecutorService device = Executors.newSingleThreadExecutor();
    private final List<Integer> begun = new ArrayList<>(); // the device's thread
    private final Peer peer = new Peer();

    /** Ends each operation on another thread, but for chains that it keeps. */
    private final class Peer extends ChainLoop {
        final AtomicInteger answered = new AtomicInteger();
        int enough;
        volatile int kept; // chains from 0 on
        volatile int bytes = BYTES;
        volatile long nanos; // for each operation, at least
        Runnable inRun = () -> {}; // the device's thread

        Peer() {
            super(new Workload(Path.of("none"), BYTES, DEPTH, false, false), chains());
        }

        @Override
        void begin(int chain, long offset) {
            int moved = bytes;
            device.execute(() -> {
                begun.add(chain);
                long begin = System.nanoTime();
                while (System.nanoTime() - begin < nanos) {
                    Thread.onSpinWait();
                }
                if (chain >= kept) {
                    completed(chain, moved);
                    answered.incrementAndGet();
                }
            });
        }

        @Override
        void beginAll() {
            enough = answered.get() + DEPTH - kept;
            super.beginAll();
        }

        /** Waits for as many answers as there are chains that give one, however slow the machine is. */
        @Override
        void letRun(long nanos) throws InterruptedException {
            CountDownLatch done = new CountDownLatch(1);
            device.execute(() -> {
                inRun.run();
                done.countDown();
            });
            done.await(); // or it would run once the run stops
            while (answered.get() < enough) {
                Thread.onSpinWait();
            }
        }

        /** Is patient until none but the kept ones is in flight. */
        @Override
        boolean awaitEnd(CountDownLatch all) {
            while (all.getCount() > kept) {
                Thread.onSpinWait();
            }
            return all.getCount() == 0;
        }
    }

    private static Chains chains() {
        return Chains.allocate(new Workload(Path.of("none"), BYTES, DEPTH, false, false));
    }

    @AfterEach
    void end() {
        device.shutdown();
    }

    private List<Integer> taken() throws Exception {
        return device.submit(() -> {
                    List<Integer> copy = List.copyOf(begun);
                    begun.clear();
                    return copy;
                })
                .get();
    }

    @Test
    void operationsThatDoNotEndAreCountedAndTheOthersGoOn() throws Exception {
        peer.kept = 1;
        assertThat(peer.run(NANOS).operations()).isPositive();
        assertThat(peer.remark()).isEqualTo("1 of 4 operations did not end");
        taken();
        peer.kept = 0;
        assertThat(peer.run(NANOS).operations()).isPositive();
        assertThat(taken()).as("its chain is in use").doesNotContain(0).contains(1, 2, 3);
    }

    @Test
    void anOperationThatEndsLateGivesItsChainBackAndCountsNowhere() throws Exception {
        peer.kept = 1;
        peer.run(NANOS);
        device.submit(() -> {
                    begun.clear();
                    peer.completed(0, BYTES);
                })
                .get();
        assertThat(taken()).as("begins nothing between runs").isEmpty();
        peer.kept = 0;
        peer.run(NANOS);
        assertThat(taken()).contains(0);
        assertThat(peer.remark()).isEqualTo("1 of 4 operations did not end");
    }

    @Test
    void anOperationIsTimedFromItsStartToItsEnd() throws Exception {
        peer.nanos = 2_000_000;
        Latency latency = peer.latency(NANOS);
        assertThat(latency.p50()).isGreaterThanOrEqualTo(2_000);
        assertThat(latency.p999()).isGreaterThanOrEqualTo(latency.p50());
        peer.nanos = 0;
        peer.latency(NANOS);
        assertThat(peer.remark()).isEmpty();
    }

    @Test
    void anOperationThatEndsLateBelongsToNoLaterRunEither() throws Exception {
        peer.kept = 1;
        peer.run(NANOS);
        taken();
        peer.kept = 0;
        peer.inRun = () -> peer.completed(0, BYTES);
        peer.run(NANOS);
        assertThat(taken())
                .as("its chain waits for the next run")
                .contains(1, 2, 3)
                .doesNotContain(0);
        peer.inRun = () -> {};
        peer.run(NANOS);
        assertThat(taken()).contains(0);
    }

    @Test
    void acceptedEntriesHaveNoRemark() throws Exception {
        assertThat(peer.run(NANOS).operations()).isPositive();
        assertThat(peer.remark()).isEmpty();
    }

    @Test
    void aContenderWithoutCompletionsIsStopped() {
        peer.kept = DEPTH;
        assertThatThrownBy(() -> peer.run(NANOS))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("none");
    }

    @Test
    void aShortCountIsAFailure() {
        peer.bytes = 1;
        assertThatThrownBy(() -> peer.run(NANOS))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("failed");
    }
}
