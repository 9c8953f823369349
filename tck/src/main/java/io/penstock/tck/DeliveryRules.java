// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.CommonOptions;
import io.penstock.CommonOptions.Delivery;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Which thread delivers signals, and what must not happen on it (rules 302, 303). */
public interface DeliveryRules extends Rules {

    private static Bench deliveringOn(Bench bench, Delivery delivery) {
        return bench.with(bench.options().with(CommonOptions.DELIVERY, delivery));
    }

    private static Mono<Completion> read(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        return bench.backend()
                .submit(Transfer.read(file.all(), bench.poisoned(4096).all()));
    }

    /** Rule 303: nothing completes inside subscribe. If this fails, check what runs on the subscribing thread. */
    @Test
    default void required_303_nothingCompletesInsideSubscribe(Bench bench) {
        Mono<Completion> read = read(bench);
        Mono<DeviceBuffer> allocate = bench.backend().allocate(64);
        Mono<StorageFile> open = bench.backend().openFile(bench.path("data"), FileOption.READ);
        Mono<Void> sync = bench.open(bench.path("data"), FileOption.READ, FileOption.WRITE)
                .sync();
        for (int i = 0; i < 20; i++) {
            assertThat(Witness.of(read).awaitEnd().threads()).doesNotContain(Thread.currentThread());
            assertThat(Witness.of(sync).awaitEnd().threads()).doesNotContain(Thread.currentThread());
            Witness<DeviceBuffer> allocated = Witness.of(allocate);
            allocated.value().close();
            assertThat(allocated.threads()).doesNotContain(Thread.currentThread());
            Witness<StorageFile> opened = Witness.of(open);
            opened.value().close();
            assertThat(opened.threads()).doesNotContain(Thread.currentThread());
        }
    }

    /** Rule 303: neither do failures. If this fails, check transfers that are refused: closed file, closed buffer. */
    @Test
    default void required_303_refusalsAreSignalledLikeEverythingElse(Bench bench) {
        Mono<Completion> read = read(bench);
        Mono<StorageFile> missing = bench.backend().openFile(bench.path("missing"), FileOption.READ);
        bench.backend().close();
        for (Mono<?> refused : List.of(read, missing, bench.backend().allocate(64))) {
            Witness<Object> witness = Witness.of(refused);
            witness.error();
            assertThat(witness.threads()).doesNotContain(Thread.currentThread());
        }
    }

    /** The default scheduler is parallel. If this fails, check {@code penstock.delivery}. */
    @Test
    default void required_302_parallelDeliveryIsOnTheParallelScheduler(Bench bench) {
        Witness<Completion> read = Witness.of(read(deliveringOn(bench, Delivery.PARALLEL)));
        read.value();
        assertThat(read.threads()).allSatisfy(thread -> {
            assertThat(thread.getName()).startsWith("parallel-");
            assertThat(Schedulers.isNonBlockingThread(thread)).isTrue();
        });
    }

    /**
     * Rule 302: a thread that polls for signals is no I/O queue either. If this fails, check what {@code
     * penstock.poll-micros} does.
     */
    @Test
    default void required_302_threadsThatPollDeliverLikeTheParallelScheduler(Bench bench) {
        Mono<Completion> read = read(polling(deliveringOn(bench, Delivery.PARALLEL), 10_000));
        for (int i = 0; i < 100; i++) {
            Witness<Completion> one = Witness.of(read);
            assertThat(one.value().bytes()).isEqualTo(4096);
            assertThat(one.threads()).allSatisfy(thread -> {
                assertThat(thread.getName()).startsWith("parallel-");
                assertThat(Schedulers.isNonBlockingThread(thread)).isTrue();
            });
        }
    }

    private static Bench polling(Bench bench, int micros) {
        return bench.with(bench.options().with(CommonOptions.POLL_MICROS, micros));
    }

    /** ELASTIC lets subscribers block, also where threads poll. If this fails, check {@code penstock.delivery}. */
    @Test
    default void required_302_elasticDeliveryMayBlock(Bench bench) {
        Bench elastic = polling(deliveringOn(bench, Delivery.ELASTIC), 10_000);
        Mono<Completion> read = read(elastic);
        Completion second =
                read.mapNotNull(first -> read.block(Bench.patience())).block(Bench.patience());
        assertThat(second).isNotNull();
    }

    /**
     * Rule 302: block() on an I/O queue throws rather than stops the I/O queue. If this fails, check that I/O queues
     * are NonBlocking.
     */
    @Test
    default void required_302_blockingOnAnIoQueueThrows(Bench bench) {
        Bench direct = deliveringOn(bench, Delivery.DIRECT);
        Mono<Completion> read = read(direct);
        Witness<Completion> blocking = Witness.of(read.mapNotNull(first -> read.block(Bench.patience())));
        assertThat(blocking.error()).isInstanceOf(IllegalStateException.class).hasMessageContaining("block");
        assertThat(blocking.threads())
                .allSatisfy(thread -> assertThat(thread.getName()).startsWith("penstock"));
        assertThat(Bench.get(read).bytes()).as("the I/O queue still works").isEqualTo(4096);
    }

    /** Close waits, so an I/O queue must not call it. If this fails, check what {@code close} tests first. */
    @Test
    default void required_601_closeIsRefusedOnAnIoQueueAndCloseLaterIsNot(Bench bench) {
        Bench direct = deliveringOn(bench, Delivery.DIRECT);
        Mono<Completion> read = read(direct);
        Witness<Completion> closing =
                Witness.of(read.doOnNext(completion -> direct.backend().close()));
        assertThat(closing.error()).isInstanceOf(IllegalStateException.class).hasMessageContaining("closeLater");
        assertThat(Bench.get(read).bytes()).as("still open").isEqualTo(4096);
        assertThat(Witness.of(read.flatMap(completion -> direct.backend().closeLater()))
                        .all())
                .isEmpty();
    }

    /**
     * Rule 303: submitting from the I/O queue itself. If this fails, check for a lock or a queue on which an I/O queue
     * waits.
     */
    @Test
    default void required_303_aSubscriberOnAnIoQueueMaySubmit(Bench bench) {
        Bench direct = deliveringOn(bench, Delivery.DIRECT);
        Mono<Completion> read = read(direct);
        Mono<Completion> chain = read;
        for (int i = 0; i < 200; i++) {
            chain = chain.flatMap(completion -> read);
        }
        assertThat(Bench.get(chain).bytes()).isEqualTo(4096);
    }

    /** Rule 303: subscribing never waits. If this fails, check what subscribe does when an I/O queue is full. */
    @Test
    default void required_303_subscribingToMoreThanAnIoQueueTakesReturnsAtOnce(Bench bench) throws IOException {
        Gate gate = bench.gate();
        Bench narrow = bench.with(bench.options().with(CommonOptions.QUEUE_DEPTH, 1));
        StorageFile file = narrow.open(narrow.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = narrow.poisoned(4096);
        Witness<Completion> held = Witness.of(narrow.backend()
                .submit(narrow.heldRead(gate, narrow.poisoned(4096).all())));
        Mono<Completion> read = narrow.backend().submit(Transfer.read(file.all(), buffer.all()));
        List<Witness<Completion>> waiting = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            waiting.add(Witness.of(read)); // would block here, with the gate closed
        }
        gate.letReadsEnd(4096);
        held.value();
        waiting.forEach(Witness::value);
    }

    /** Rule 303: a non-blocking thread may subscribe to anything. If this fails, check for waits in subscribe. */
    @Test
    default void required_303_aNonBlockingThreadMaySubscribeToEverything(Bench bench) {
        Mono<Completion> read = read(bench);
        Mono<Object> everything = Mono.defer(() -> bench.backend()
                .withFile(
                        bench.path("data"),
                        FileOption.READ,
                        file -> bench.backend()
                                .withBuffer(
                                        4096,
                                        buffer -> bench.backend().submit(Transfer.read(file.all(), buffer.all()))))
                .then(read));
        Flux.merge(Flux.range(0, 100).map(i -> everything.subscribeOn(Schedulers.parallel())), 100)
                .then()
                .block(Bench.patience());
    }
}
