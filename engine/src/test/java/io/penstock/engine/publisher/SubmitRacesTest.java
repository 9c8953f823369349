// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.engine.FakeBuffer;
import io.penstock.engine.FakeFile;
import io.penstock.engine.FakePort;
import io.penstock.engine.queue.OpenTransfer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/**
 * Several I/O queues end transfers while others request, cancel and publish: real threads, no order but the operator's.
 */
@Tag("slow")
class SubmitRacesTest {

    private final IoQueues ioQueues = new IoQueues(3);
    private final FakeFile file = new FakeFile(1);
    private final FakeBuffer buffer = new FakeBuffer(1, true);

    @AfterEach
    void stop() throws InterruptedException {
        ioQueues.stop();
    }

    private Transfer read(int number) {
        return Transfer.read(file.region(0, 1), buffer.region(0, 1)).tag(number);
    }

    private static int number(Completion completion) {
        return (int) completion.transfer().tag().orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"1,false,false", "7,false,true", "128,false,false", "128,true,false", "64,true,true", "512,false,true"})
    void everyTransferCompletesOnceWhateverTheThreads(int inFlight, boolean ordered, boolean direct) {
        int count = Integer.getInteger("races.transfers", 50_000);
        SubmitOptions options = new SubmitOptions(inFlight, ordered, SubmitOptions.Errors.STOP, direct);
        boolean[] seen = new boolean[count];
        AtomicInteger last = new AtomicInteger(-1);
        StepVerifier.create(
                        new FluxSubmit(
                                        ioQueues,
                                        Flux.range(0, count).map(this::read).publishOn(Schedulers.parallel()),
                                        options)
                                .doOnNext(completion -> {
                                    int number = number(completion);
                                    assertThat(seen[number]).isFalse();
                                    seen[number] = true;
                                    assertThat(!ordered || number == last.get() + 1)
                                            .isTrue();
                                    last.set(number);
                                })
                                .limitRate(50),
                        Long.MAX_VALUE)
                .expectNextCount(count)
                .verifyComplete();
        assertThat(ioQueues.mostCarried.get()).isLessThanOrEqualTo(inFlight);
        assertThat(ioQueues.carried).hasValue(0);
    }

    @Test
    void aCancelFromAnotherThreadLeavesNothingInFlight() {
        for (int round = 0; round < 2_000; round++) {
            AtomicInteger received = new AtomicInteger();
            List<SignalType> ends = new ArrayList<>();
            BaseSubscriber<Completion> subscriber = new BaseSubscriber<>() {
                @Override
                protected void hookOnNext(Completion value) {
                    received.incrementAndGet();
                }

                @Override
                protected void hookFinally(SignalType type) {
                    synchronized (ends) {
                        ends.add(type);
                    }
                }
            };
            Flux<Transfer> endless =
                    Flux.<Integer>generate(sink -> sink.next(1)).map(this::read);
            new FluxSubmit(ioQueues, endless, SubmitOptions.DEFAULT.inFlight(16)).subscribe(subscriber);
            int enough = round % 100;
            while (received.get() < enough) {
                Thread.onSpinWait();
            }
            subscriber.cancel();
            synchronized (ends) {
                assertThat(ends).containsExactly(SignalType.CANCEL);
            }
        }
        ioQueues.awaitIdle();
    }

    /** I/O queues that end what they are given, at once and on threads of their own. */
    private static final class IoQueues extends FakePort {

        private final List<Thread> threads = new ArrayList<>();
        private final List<LinkedBlockingQueue<OpenTransfer>> inboxes = new ArrayList<>();
        private final AtomicLong next = new AtomicLong();
        final AtomicInteger carried = new AtomicInteger();
        final AtomicInteger mostCarried = new AtomicInteger();

        IoQueues(int count) {
            super(0);
            scheduler = Schedulers.parallel();
            for (int i = 0; i < count; i++) {
                LinkedBlockingQueue<OpenTransfer> inbox = new LinkedBlockingQueue<>();
                inboxes.add(inbox);
                Thread ioQueue = new Thread(() -> run(inbox), "I/O queue of the test");
                ioQueue.setDaemon(true);
                threads.add(ioQueue);
                ioQueue.start();
            }
        }

        private void run(LinkedBlockingQueue<OpenTransfer> inbox) {
            try {
                while (true) {
                    OpenTransfer transfer = inbox.take();
                    carried.decrementAndGet();
                    transfer.finish(0);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void stop() throws InterruptedException {
            threads.forEach(Thread::interrupt);
            for (Thread thread : threads) {
                thread.join();
            }
        }

        void awaitIdle() {
            while (carried.get() != 0) {
                Thread.onSpinWait();
            }
        }

        @Override
        public void open(OpenTransfer transfer) {
            transfer.admit(FakePort.PATH, 0, null);
            int now = carried.incrementAndGet();
            mostCarried.accumulateAndGet(now, Math::max);
            inboxes.get((int) (next.getAndIncrement() % inboxes.size())).add(transfer);
        }
    }
}
