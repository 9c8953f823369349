// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.Options;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.path.QemuProvider;
import io.penstock.backend.nvme.qemu.FaultyBus;
import io.penstock.backend.nvme.qemu.MemoryDisk;
import io.penstock.backend.nvme.qemu.NbdDisk;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Queue pairs of QEMU's controller, to which another process submits. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QueuePairHandleTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int BLOCK = 512;

    private final MemoryDisk content = new MemoryDisk(16 << 20);
    private NbdDisk disk;
    private Qemu qemu;
    private Path program;
    private QtestBus qtest;
    private FaultyBus bus;
    private Controller controller;
    private QueuePairHandle pair;
    private DmaMemory data;

    @BeforeAll
    void start() throws IOException {
        Submitter.require();
        program = Submitter.program("submitter");
        disk = new NbdDisk(content);
        qemu = Qemu.start(disk.drive(), "");
    }

    @AfterAll
    void stop() throws IOException {
        if (qemu != null) {
            disk.close();
            qemu.close();
        }
    }

    @BeforeEach
    void open() throws IOException {
        qtest = new QtestBus(qemu);
        bus = new FaultyBus(qtest);
        start(TIMEOUT);
    }

    private void start(Duration timeout) throws IOException {
        controller = Controller.open("pair", () -> bus, timeout);
        pair = openPair(8);
        data = bus.allocate(64 << 10);
    }

    private QueuePairHandle openPair(int depth) {
        return QueuePairHandle.open(controller::join, depth, 0).block(PATIENCE);
    }

    @AfterEach
    void close() {
        pair.close();
        pair.released().block(PATIENCE);
        data.free();
        controller.leave();
        QtestBus.assertAllFreed();
    }

    /** Starts a submitter of one block for each command, to and from {@link #data}. */
    private Submitter submit(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(
                List.of(Submitter.argument(pair), "data=" + data.busAddress(), "bytes=" + BLOCK, "span=64"));
        all.addAll(Arrays.asList(arguments));
        return Submitter.start(program, qemu.memoryFile(), all);
    }

    private static List<Integer> ids(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    private ByteBuffer bytes() {
        return data.buffer(0, 64 * BLOCK);
    }

    @Test
    void commandsOfAnotherProcessAreCarriedOutAndEndOnceEach() throws IOException {
        byte[] written = new byte[64 * BLOCK];
        for (int i = 0; i < written.length; i++) {
            written[i] = (byte) (i * 31 + (i >> 9) * 7 + 1);
        }
        bytes().put(written);
        for (String write : List.of("write=1", "write=0")) {
            long before = qtest.doorbellWrites();
            try (Submitter submitter = submit(write, "first=128", "count=200", "depth=8")) {
                List<CommandCompletion> completions =
                        pair.completions().take(200).collectList().block(PATIENCE);
                assertThat(completions).allMatch(CommandCompletion::isSuccess);
                assertThat(completions).extracting(CommandCompletion::commandId).hasSameElementsAs(ids(0, 200));
                assertThat(submitter.line()).isEqualTo("completed 200 errors 0 status 0");
            }
            assertThat(qtest.doorbellWrites() - before).isLessThan(2 * 200); // shadows: 40 to 200
            byte[] found = new byte[written.length];
            bytes().get(found);
            assertThat(found).isEqualTo(written);
            bytes().put(new byte[written.length]);
            pair = reopened();
        }
    }

    /** A submitter begins with entry 0: the next one needs another pair. */
    private QueuePairHandle reopened() {
        pair.close();
        pair.released().block(PATIENCE);
        return openPair(8);
    }

    @Test
    void aFailedCommandIsACompletionWithItsStatus() throws IOException {
        try (Submitter submitter = submit("first=" + (MemoryDisk.UNREADABLE - 1), "count=2")) {
            List<CommandCompletion> completions =
                    pair.completions().take(2).collectList().block(PATIENCE);
            assertThat(completions.get(0)).isEqualTo(new CommandCompletion(0, 0, 0));
            assertThat(completions.get(1).commandId()).isOne();
            assertThat(completions.get(1).isSuccess()).isFalse();
            assertThat(completions.get(1).symbol()).isEqualTo("NVME_SC_READ_ERROR");
            assertThat(submitter.line()).startsWith("completed 2 errors 1");
        }
    }

    /**
     * The pair has 9 entries: the completion queue holds 8 of the 40 without a request, and then the controller waits.
     */
    @Test
    void completionsThatAreNotRequestedWaitInTheQueueAndNoneIsLost() throws IOException {
        List<Integer> received = new CopyOnWriteArrayList<>();
        try (Submitter submitter = submit("count=40", "depth=8")) {
            StepVerifier.create(
                            pair.completions().map(CommandCompletion::commandId).doOnNext(received::add), 3)
                    .expectNextCount(3)
                    .then(() -> awaitCompletion(3 + 8))
                    .then(() -> assertThat(received).hasSize(3))
                    .thenRequest(2)
                    .expectNextCount(2)
                    .thenCancel()
                    .verify(PATIENCE);
            pair.completions()
                    .map(CommandCompletion::commandId)
                    .take(35)
                    .doOnNext(received::add)
                    .blockLast(PATIENCE);
            assertThat(received).containsExactlyInAnyOrderElementsOf(ids(0, 40));
            assertThat(submitter.line()).isEqualTo("completed 40 errors 0 status 0");
        }
    }

    /** Waits until the controller has posted a completion of the second lap, by the phase bits. */
    private void awaitCompletion(int number) {
        ByteBuffer queue = NativeMemory.view(
                pair.completionQueue().address(), pair.completionQueue().bytes());
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        int last = (pair.entries() - 1) * QueuePairHandle.COMPLETION_ENTRY_BYTES + 12;
        int at = (number - 1 - pair.entries()) * QueuePairHandle.COMPLETION_ENTRY_BYTES + 12;
        while ((queue.getInt(last) & 1 << 16) == 0 || (queue.getInt(at) & 1 << 16) != 0) {
            assertThat(System.nanoTime()).as("time").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    void thereIsOneSubscriberAtATime() throws IOException {
        try (Submitter submitter = submit("count=1")) {
            StepVerifier.create(pair.completions(), 0)
                    .then(() -> assertThatIllegalStateException()
                            .isThrownBy(() -> pair.completions().blockFirst(PATIENCE))
                            .withMessageContaining("queue pair " + pair.id())
                            .withMessageContaining("must have one subscriber at a time"))
                    .thenRequest(1)
                    .expectNext(new CommandCompletion(0, 0, 0))
                    .thenCancel()
                    .verify(PATIENCE);
            assertThat(submitter.line()).startsWith("completed 1");
        }
    }

    /** The thread of the pair has to delete the queues. */
    @Test
    void anErrorOutOfASubscriberEndsItsSubscriptionOnly() throws Exception {
        try (Submitter submitter = submit("count=2")) {
            CountDownLatch next = new CountDownLatch(1);
            pair.completions().subscribe(new ThrowingSubscriber(next));
            assertThat(next.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(Mono.defer(() -> pair.completions().next())
                            .retry() // until the first is cancelled
                            .subscribeOn(Schedulers.boundedElastic())
                            .block(PATIENCE))
                    .isEqualTo(new CommandCompletion(1, 0, 0));
            assertThat(submitter.line()).startsWith("completed 2 errors 0");
        }
        CountDownLatch end = new CountDownLatch(1);
        pair.completions().subscribe(new ThrowingSubscriber(end));
        controller.reset(0, "a test");
        assertThat(end.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        pair.close();
        pair.released().block(PATIENCE);
    }

    /** Throws what counts as fatal, from its first signal. */
    private record ThrowingSubscriber(CountDownLatch signals) implements Subscriber<CommandCompletion> {

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(1);
        }

        @Override
        public void onNext(CommandCompletion completion) {
            refuse();
        }

        @Override
        public void onError(Throwable error) {
            refuse();
        }

        @Override
        public void onComplete() {
            refuse();
        }

        private void refuse() {
            signals.countDown();
            throw new OutOfMemoryError("out of a subscriber");
        }
    }

    /** It has rung for 6 commands, and built a seventh entry. */
    @Test
    void commandsThatAKilledProcessHasRungForEndAndTheOtherNeverBegins() throws IOException {
        Submitter submitter = submit("count=6", "depth=6", "leave=1");
        assertThat(submitter.line()).startsWith("completed 0");
        submitter.close();
        StepVerifier.create(pair.completions().map(CommandCompletion::commandId))
                .recordWith(ArrayList::new)
                .expectNextCount(6)
                .consumeRecordedWith(ended -> assertThat(ended).hasSameElementsAs(ids(0, 6)))
                .then(pair::close)
                .verifyComplete();
        pair = openPair(8); // and the controller is well
        try (Submitter next = submit("count=8", "depth=8")) {
            assertThat(pair.completions().take(8).count().block(PATIENCE)).isEqualTo(8);
            assertThat(next.line()).isEqualTo("completed 8 errors 0 status 0");
        }
    }

    /** The disk does one operation a second. */
    @Test
    void aCloseEndsCommandsInFlightAndFreesMemoryAfterThat() throws IOException {
        qemu.throttle(1);
        try (Submitter submitter = submit("count=3", "depth=3", "leave=1")) {
            assertThat(submitter.line()).startsWith("completed 0");
            StepVerifier.create(pair.completions())
                    .expectNextCount(1) // so that the others are in flight
                    .then(() -> {
                        pair.close();
                        pair.close();
                    })
                    .thenConsumeWhile(completion -> completion.commandId() < 3)
                    .expectComplete()
                    .verify(PATIENCE);
        } finally {
            qemu.throttle(0);
        }
        pair.released().block(PATIENCE);
        assertThat(controller.generation()).as("resets").isZero();
        assertThat(QtestBus.live())
                .as("the data, and the shadow doorbells, the admin queues and a page")
                .isEqualTo(6);
        assertThat(pair.completions().collectList().block(PATIENCE)).isEmpty();
    }

    @Test
    void aMappedBufferIsForCommandsAndStaysUntilTheQueuesAreDeleted() throws IOException {
        try (Backend backend = QemuProvider.open("pair", () -> bus)) {
            DeviceBuffer buffer = backend.allocate(64 * BLOCK).block(PATIENCE);
            DmaRange range = pair.map(buffer);
            assertThat(range.address()).isEqualTo(buffer.nativeHandle());
            assertThat(range.bytes()).isEqualTo(64 * BLOCK);
            long live = QtestBus.live();
            buffer.close();
            NativeMemory.fill(range.address(), range.bytes(), (byte) 7);
            try (Submitter submitter = submit("count=64", "write=1", "first=2048", "data=" + range.busAddress())) {
                assertThat(pair.completions().take(64).count().block(PATIENCE)).isEqualTo(64);
                assertThat(submitter.line()).isEqualTo("completed 64 errors 0 status 0");
            }
            ByteBuffer found = ByteBuffer.allocate(64 * BLOCK);
            content.read(2048 * BLOCK, found);
            assertThat(found.array()).containsOnly(7);
            assertThat(QtestBus.live()).as("the closed buffer is still there").isEqualTo(live);
            pair.close();
            pair.released().block(PATIENCE);
            assertThat(QtestBus.live())
                    .as("without both queues, the buffer and its mapping")
                    .isEqualTo(live - 4);
            assertThatExceptionOfType(ClosedException.class)
                    .isThrownBy(() -> pair.map(backend.allocate(512).block(PATIENCE)));
        }
    }

    @Test
    void aResetEndsAllPairsByAnErrorAndANewPairWorks() throws IOException {
        qemu.throttle(1);
        QueuePairHandle second = openPair(4);
        try (Submitter submitter = submit("count=3", "depth=3", "leave=1")) {
            assertThat(submitter.line()).startsWith("completed 0");
            StepVerifier.create(pair.completions().ignoreElements())
                    .then(() -> controller.reset(controller.generation(), "a test"))
                    .expectErrorSatisfies(QueuePairHandleTest::isReset)
                    .verify(PATIENCE);
        } finally {
            qemu.throttle(0);
        }
        StepVerifier.create(second.completions())
                .expectErrorSatisfies(QueuePairHandleTest::isReset)
                .verify(PATIENCE);
        assertThatExceptionOfType(TransientStorageException.class)
                .isThrownBy(() -> pair.completions().blockLast(PATIENCE)); // a later subscriber
        int removed = pair.id();
        QueuePairHandle third = openPair(4);
        assertThat(third.id())
                .as("a late ring of a submitter must not be for another pair")
                .isNotEqualTo(removed);
        Stream.of(second, third).forEach(QueuePairHandle::close);
        second.released().block(PATIENCE);
        third.released().block(PATIENCE);
        pair = reopened();
        try (Submitter next = submit("count=8", "depth=8")) {
            assertThat(pair.completions().take(8).count().block(PATIENCE)).isEqualTo(8);
            assertThat(next.line()).isEqualTo("completed 8 errors 0 status 0");
        }
    }

    /** The disk does one operation a second. */
    @Test
    void aControllerThatCompletesNothingInTimeIsReset() throws IOException {
        close();
        start(Duration.ofMillis(300));
        qemu.throttle(1);
        try (Submitter submitter = submit("count=3", "depth=3", "leave=1")) {
            assertThat(submitter.line()).startsWith("completed 0");
            StepVerifier.create(pair.completions().ignoreElements())
                    .expectErrorSatisfies(QueuePairHandleTest::isReset)
                    .verify(PATIENCE);
        } finally {
            qemu.throttle(0);
        }
        assertThat(controller.generation()).isOne();
    }

    private static void isReset(Throwable error) {
        assertThat(error).isInstanceOf(TransientStorageException.class);
        assertThat(((TransientStorageException) error)
                        .nativeError()
                        .orElseThrow()
                        .symbol())
                .isEqualTo("NVME_SC_HOST_ABORTED_CMD");
    }

    @Test
    void fatalStatusResetsTheController() throws IOException {
        qemu.throttle(1);
        try (Submitter submitter = submit("count=3", "depth=3", "leave=1")) {
            assertThat(submitter.line()).startsWith("completed 0");
            bus.fail();
            StepVerifier.create(pair.completions().ignoreElements())
                    .expectErrorSatisfies(QueuePairHandleTest::isReset)
                    .verify(PATIENCE);
        } finally {
            qemu.throttle(0);
        }
        assertThat(controller.generation()).isOne();
    }

    @Test
    void aRemovedDeviceIsLost() throws IOException {
        qemu.throttle(1);
        try (Submitter submitter = submit("count=3", "depth=3", "leave=1")) {
            assertThat(submitter.line()).startsWith("completed 0");
            bus.remove();
            StepVerifier.create(pair.completions().ignoreElements())
                    .expectError(DeviceLostException.class)
                    .verify(PATIENCE);
        } finally {
            qemu.throttle(0);
        }
    }

    @Test
    void whatCannotBeOpenedIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> QueuePairHandle.open(controller::join, 0, 0))
                .withMessage("depth must be at least 1, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> QueuePairHandle.open(Options.none().with(NvmeOptions.DEVICE, "0000:04:00.0"), 8))
                .withMessageContaining("penstock.nvme.write must be true");
    }
}
