// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FailedCompletion;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** Many transfers from one publisher: demand, order, and the effect of one failure on the others (rules 101, 104). */
public interface SubmitRules extends Rules {

    private static Flux<Transfer> reads(Bench bench, int count) {
        StorageFile file = bench.open(bench.file("data", count * 64L), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(count * 64L);
        return Flux.range(0, count)
                .map(i -> Transfer.read(file.region(i * 64L, 64), buffer.region(i * 64L, 64))
                        .tag(i));
    }

    private static int tag(Completion completion) {
        return (int) completion.transfer().tag().orElseThrow();
    }

    /** Rule 101: every transfer completes, once. If this fails, check the drain and what it counts. */
    @Test
    default void required_101_everyTransferOfAPublisherCompletesOnce(Bench bench) {
        Flux<Transfer> reads = reads(bench, 5000);
        List<Completion> completions =
                Witness.<Completion>of(bench.backend().submit(reads)).all();
        assertThat(completions)
                .extracting(SubmitRules::tag)
                .doesNotHaveDuplicates()
                .hasSize(5000);
        Transfer last = completions.get(0).transfer();
        DeviceBuffer buffer = ((BufferRegion) last.target(0)).buffer();
        Content.assertHolds(buffer.all(), last.fileRegion(0).file().all());
    }

    /** Rule 104: demand is honoured on both sides. If this fails, check what is requested from the publisher. */
    @Test
    default void required_104_noMoreIsRequestedOrEmittedThanDemanded(Bench bench) {
        AtomicInteger taken = new AtomicInteger();
        Flux<Transfer> reads = reads(bench, 1000).doOnNext(transfer -> taken.incrementAndGet());
        Witness<Completion> witness = Witness.of(bench.backend().submit(reads, SubmitOptions.DEFAULT.inFlight(8)), 0);
        bench.letOthersRun();
        assertThat(witness.values()).isEmpty();
        assertThat(taken.get()).as("taken without demand").isLessThanOrEqualTo(8);

        witness.request(5);
        witness.awaitValues(5);
        bench.letOthersRun();
        assertThat(witness.values()).hasSize(5);
        assertThat(taken.get()).as("taken for a demand of 5").isLessThanOrEqualTo(5 + 8);

        witness.request(Long.MAX_VALUE);
        assertThat(witness.all()).hasSize(1000);
    }

    /** In order means the order of the publisher. If this fails, check the reorder queue. */
    @Test
    default void required_order_orderedCompletionsComeInTheOrderOfTheTransfers(Bench bench) {
        SubmitOptions options = SubmitOptions.DEFAULT.ordered().inFlight(64);
        List<Completion> completions = Witness.<Completion>of(bench.backend().submit(reads(bench, 2000), options))
                .all();
        assertThat(completions)
                .extracting(SubmitRules::tag)
                .containsExactlyElementsOf(Flux.range(0, 2000).toIterable());
    }

    private static Flux<Transfer> withFailures(Bench bench, int count, Set<Integer> failing) {
        Transfer failure = bench.failingWrite();
        return reads(bench, count)
                .map(read -> failing.contains(read.tag().orElseThrow())
                        ? failure.tag(read.tag().orElseThrow())
                        : read);
    }

    /** STOP: the first failure terminates it. If this fails, check the cancel of the publisher and of the rest. */
    @Test
    default void required_101_stopSignalsTheFirstFailureAndCancelsTheRest(Bench bench) {
        AtomicInteger cancelled = new AtomicInteger();
        Flux<Transfer> transfers =
                withFailures(bench, 3, Set.of(1)).concatWith(Flux.never()).doOnCancel(cancelled::incrementAndGet);
        Witness<Completion> witness = Witness.of(bench.backend().submit(transfers));
        assertThat(witness.error()).isInstanceOf(PenstockException.class);
        assertThat(witness.terminals()).isOne();
        assertThat(cancelled).hasValue(1);
    }

    /**
     * DELAY: all run, then the failures are signalled. If this fails, check which exceptions are suppressed in which.
     */
    @Test
    default void required_101_delayRunsAllAndThenSignalsTheFailures(Bench bench) {
        Flux<Transfer> transfers = withFailures(bench, 300, Set.of(10, 11, 200));
        Witness<Completion> witness =
                Witness.of(bench.backend().submit(transfers, SubmitOptions.DEFAULT.errors(SubmitOptions.Errors.DELAY)));
        Throwable error = witness.error();
        assertThat(error).isInstanceOf(PenstockException.class);
        assertThat(error.getSuppressed()).hasSize(2).hasOnlyElementsOfType(PenstockException.class);
        assertThat(witness.values()).hasSize(297);
    }

    /** MATERIALIZE: a failure is a value. If this fails, check {@code FailedCompletion}. */
    @Test
    default void required_101_materializeGivesFailuresAsValues(Bench bench) {
        Flux<Transfer> transfers = withFailures(bench, 300, Set.of(10, 11, 200));
        SubmitOptions options =
                SubmitOptions.DEFAULT.errors(SubmitOptions.Errors.MATERIALIZE).ordered();
        List<Completion> completions = Witness.<Completion>of(bench.backend().submit(transfers, options))
                .all();
        assertThat(completions).hasSize(300);
        List<FailedCompletion> failed = completions.stream()
                .filter(FailedCompletion.class::isInstance)
                .map(FailedCompletion.class::cast)
                .toList();
        assertThat(failed).extracting(SubmitRules::tag).containsExactly(10, 11, 200);
        assertThat(failed).allSatisfy(completion -> {
            assertThat(completion.error()).isInstanceOf(PenstockException.class);
            assertThat(completion.bytes()).isZero();
        });
    }

    /** An error of the publisher is signalled. If this fails, check what happens to the transfers before it. */
    @Test
    default void required_101_anErrorOfThePublisherIsSignalled(Bench bench) {
        Flux<Transfer> transfers =
                reads(bench, 3).concatWith(Flux.error(new IllegalStateException("the source's own")));
        assertThat(Witness.of(bench.backend().submit(Flux.empty())).all()).isEmpty();
        for (SubmitOptions.Errors errors : SubmitOptions.Errors.values()) {
            Witness<Completion> failing =
                    Witness.of(bench.backend().submit(transfers, SubmitOptions.DEFAULT.errors(errors)));
            assertThat(failing.error()).as("with %s", errors).hasMessage("the source's own");
            assertThat(failing.terminals()).isOne();
        }
    }

    /** Rule 402: a caller bug inside a publisher is a signal. If this fails, check what {@code onNext} throws. */
    @Test
    default void required_402_aTransferOfAnotherBackendIsSignalledAsTheCallersError(Bench bench) {
        DeviceBuffer foreign = bench.with(bench.options()).poisoned(64);
        StorageFile file = bench.open(bench.file("own", 64), FileOption.READ);
        Flux<Transfer> transfers = Flux.just(Transfer.read(file.all(), foreign.all()));
        Witness<Completion> witness = Witness.of(bench.backend().submit(transfers));
        assertThat(witness.error()).isInstanceOf(IllegalArgumentException.class);
        Content.assertPoison(foreign.all());
    }

    /** A cancel reaches publisher and transfers. If this fails, check what is in flight at that moment (leaks). */
    @Test
    default void required_101_aCancelledPublisherIsCancelledAndNothingIsSignalled(Bench bench) {
        for (int demand : new int[] {0, 1, 100, 999}) {
            AtomicInteger cancelled = new AtomicInteger();
            Flux<Transfer> transfers =
                    reads(bench, 1000).concatWith(Flux.never()).doOnCancel(cancelled::incrementAndGet);
            Witness<Completion> witness = Witness.of(bench.backend().submit(transfers), demand);
            witness.awaitValues(demand);
            witness.cancel();
            bench.letOthersRun();
            assertThat(witness.terminals())
                    .as("terminal signals after the cancel")
                    .isZero();
            assertThat(witness.values()).hasSize(demand);
            assertThat(cancelled).hasValue(1);
        }
    }

    /**
     * Direct delivery uses the thread of the I/O queue, and completes as usual. If this fails, check the direct drain.
     */
    @Test
    default void required_302_directDeliveryCompletesOnTheIoQueue(Bench bench) {
        Set<String> threads = Collections.newSetFromMap(new ConcurrentHashMap<>());
        Flux<Completion> completions = bench.backend()
                .submit(reads(bench, 2000), SubmitOptions.DEFAULT.direct().inFlight(32))
                .doOnNext(completion -> threads.add(Thread.currentThread().getName()));
        StepVerifier.create(completions).expectNextCount(2000).expectComplete().verify(Bench.patience());
        assertThat(threads).as("threads of direct delivery").anyMatch(name -> name.startsWith("penstock"));
    }
}
