// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.WritePlan;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Closing a backend: idempotent, bounded, and no subscriber is left waiting (rules 101, 601). */
public interface CloseRules extends Rules {

    /** Rule 601: close may be repeated, by any thread. If this fails, check the state of the backend. */
    @Test
    default void required_601_closeIsIdempotentAlsoFromManyThreads(Bench bench) throws InterruptedException {
        Backend backend = bench.backend();
        bench.letOthersRun();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Thread thread = new Thread(backend::close, "closer-" + i);
            thread.setUncaughtExceptionHandler((closer, failure) -> failures.add(failure));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        backend.close();
        assertThat(Witness.of(backend.closeLater()).all()).isEmpty();
        assertThat(failures).isEmpty();
    }

    /**
     * Rule 601: a closed backend refuses everything, as a signal. If this fails, check which method does not test the
     * state.
     */
    @Test
    default void required_601_aClosedBackendRefusesNewWork(Bench bench) {
        Backend backend = bench.backend();
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer read = Transfer.read(file.all(), buffer.all());
        Mono<Completion> before = backend.submit(read);
        backend.close();
        List<Flux<?>> refused = List.of(
                before.flux(),
                backend.submit(read).flux(),
                backend.submit(Flux.just(read)),
                backend.enqueue(read).flux(),
                backend.openFile(file.path(), FileOption.READ).flux(),
                backend.allocate(64).flux(),
                backend.stream(StreamPlan.of(file.path()), chunk -> Mono.just(1)),
                backend.write(WritePlan.to(bench.path("out")), chunk -> Mono.just(0L))
                        .flux());
        for (int i = 0; i < refused.size(); i++) {
            assertThat(Witness.<Object>of(refused.get(i)).error())
                    .as("number %d", i)
                    .isInstanceOf(ClosedException.class);
        }
        assertThat(bench.path("out")).doesNotExist();
    }

    /** Open files and buffers are closed with the backend. If this fails, check what tracks them (leaks). */
    @Test
    default void required_601_closeClosesWhatIsStillOpen(Bench bench) {
        Bench careless = bench.with(bench.options());
        StorageFile file = Bench.get(careless.backend().openFile(bench.file("data", 4096), FileOption.READ));
        DeviceBuffer buffer = Bench.get(careless.backend().allocate(4096));
        careless.backend().close();
        assertThat(careless.backend().counters().files()).as("open files").isZero();
        assertThat(careless.backend().counters().buffers()).as("open buffers").isZero();
        assertThatThrownBy(file::size).isInstanceOf(ClosedException.class);
        assertThatThrownBy(buffer::hostView).isInstanceOf(ClosedException.class);
        LeakProbe probe = new LeakProbe(bench.subject());
        assertThat(probe.count().keySet())
                .noneMatch(what -> what.contains(file.path().toString()));
        file.close();
        buffer.close();
    }

    /** Rule 601: transfers in flight may complete. If this fails, check what close waits for. */
    @Test
    default void required_601_closeWaitsForTransfersInFlight(Bench bench) throws IOException {
        Gate gate = bench.gate();
        Witness<Completion> read = Witness.of(
                bench.backend().submit(bench.heldRead(gate, bench.poisoned(4096).all())));
        bench.letOthersRun();
        Witness<Void> close = Witness.of(bench.backend().closeLater());
        bench.with(bench.options()).letOthersRun();
        assertThat(close.hasEnded()).as("closed before the read has ended").isFalse();
        assertThat(read.hasEnded()).isFalse();
        gate.letReadsEnd(4096);
        assertThat(read.value().bytes()).isEqualTo(4096);
        assertThat(close.all()).isEmpty();
    }

    /** Rules 101, 601: close is bounded, and abandoned transfers are signalled. If this fails, check the bound. */
    @Test
    default void required_601_closeIsBoundedAndWhatItAbandonsIsSignalled(Bench bench) throws IOException {
        Gate gate = bench.gate();
        Bench hasty = bench.with(bench.options().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(100)));
        Witness<Completion> read = Witness.of(
                hasty.backend().submit(hasty.heldRead(gate, hasty.poisoned(4096).all())));
        hasty.letOthersRun();
        hasty.backend().close();
        assertThat(read.error()).isInstanceOf(ClosedException.class);
        assertThat(((PenstockException) read.error()).outcome()).isEqualTo(Outcome.UNKNOWN);
        // The late native completion finds its memory still valid.
        gate.letReadsEnd(4096);
        bench.letOthersRun();
        assertThat(read.terminals()).isOne();
    }

    /**
     * Rule 101: every subscriber gets one signal, also in a race with close. If this fails, check admission against
     * close.
     */
    @Test
    default void required_101_everyTransferThatRacesWithCloseGetsOneSignal(Bench bench) throws InterruptedException {
        for (int round = 0; round < 10; round++) {
            Bench fresh = bench.with(bench.options());
            StorageFile file = fresh.open(fresh.file("data", 65_536), FileOption.READ);
            DeviceBuffer buffer = fresh.poisoned(65_536);
            List<Witness<Completion>> reads = new CopyOnWriteArrayList<>();
            CountDownLatch go = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Transfer read = Transfer.read(file.region(i * 16_384L, 16_384), buffer.region(i * 16_384L, 16_384));
                Mono<Completion> submit = fresh.backend().submit(read);
                Thread thread = new Thread(() -> {
                    go.countDown();
                    for (int k = 0; k < 100; k++) {
                        reads.add(Witness.of(submit));
                    }
                });
                thread.start();
                threads.add(thread);
            }
            go.await();
            fresh.backend().close();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(reads).hasSize(400).allSatisfy(read -> {
                assertThat(read.awaitEnd().terminals()).isOne();
                if (read.values().isEmpty()) {
                    assertThat(read.error()).isInstanceOf(ClosedException.class);
                }
            });
        }
    }

    /**
     * Process life: backends share I/O queues, but one does not affect another. If this fails, check what stops a
     * shared queue.
     */
    @Test
    default void required_601_closingOneBackendLeavesOthersAlone(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 1 << 20), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(1 << 20);
        for (int i = 0; i < 5; i++) {
            Bench other = bench.with(bench.options());
            other.letOthersRun();
            Witness<Completion> read = Witness.of(bench.backend().submit(Transfer.read(file.all(), buffer.all())));
            other.backend().close();
            assertThat(read.value().bytes()).isEqualTo(1 << 20);
            Content.assertHolds(buffer.all(), file.all());
        }
    }

    /** {@code closeLater} is lazy. If this fails, check what it does before subscription. */
    @Test
    default void required_601_closeLaterClosesOnSubscription(Bench bench) {
        Mono<Void> close = bench.backend().closeLater();
        bench.letOthersRun();
        assertThat(Witness.of(close).all()).isEmpty();
        assertThat(Witness.of(close).all()).as("a second time").isEmpty();
        assertThat(Witness.of(bench.backend().allocate(64)).error()).isInstanceOf(ClosedException.class);
    }

    /** A stream ends with its backend. If this fails, check how a stream is notified of close. */
    @Test
    default void required_101_aStreamThatRacesWithCloseEndsWithOneSignal(Bench bench) {
        Bench hasty = bench.with(bench.options().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(100)));
        StreamPlan plan =
                StreamPlan.of(bench.file("data", 1 << 20)).chunkBytes(4096).depth(2);
        Witness<Long> stream = Witness.of(hasty.backend().stream(plan, chunk -> Mono.just(chunk.index())), 10);
        stream.awaitValues(10);
        hasty.backend().close();
        stream.request(Long.MAX_VALUE);
        assertThat(stream.error()).isInstanceOf(ClosedException.class);
        assertThat(stream.terminals()).isOne();
    }
}
