// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static io.penstock.engine.testing.BackendFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.FakeDevice.MemoryFile;
import io.penstock.engine.FakeFence;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.spi.Limits;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What a bug on an I/O queue does to those who wait; apart, because its file and memory stay open by rule 601. */
class BrokenQueueTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("broken.bin");

    @Test
    void aBrokenQueueSignalsEverySubscriber() {
        FakeDevice broken = new FakeDevice(Limits.none(1 << 20));
        Backend other = Engine.open(
                "broken",
                broken,
                List.of(broken),
                Options.none()
                        .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50))
                        .resolve(CommonOptions.all()));
        broken.files.put(PATH, broken.new MemoryFile(new byte[100]));
        StorageFile file = Objects.requireNonNull(other.openFile(PATH).block(LONG));
        DeviceBuffer buffer = Objects.requireNonNull(other.allocate(100).block(LONG));
        broken.queue.hold = true;
        Mono<Completion> read = other.submit(Transfer.read(file.all(), buffer.all()));
        StepVerifier.create(Mono.zipDelayError(read, read.doOnSubscribe(s -> broken.queue.breakWith("a bug"))))
                .expectErrorSatisfies(e -> assertThat(Exceptions.unwrapMultiple(e))
                        .hasSize(2)
                        .allMatch(DeviceLostException.class::isInstance))
                .verify(LONG);
        StepVerifier.create(read).expectError(DeviceLostException.class).verify(LONG);
        assertThat(broken.freed).hasValue(0);
        file.close();
        other.close();
    }

    @Test
    void aSyncIsReported() {
        FakeDevice broken = new FakeDevice(Limits.none(1 << 20));
        Options options = Options.none()
                .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50))
                .resolve(CommonOptions.all());
        Backend other = Engine.open("broken", broken, List.of(broken), options);
        StorageFile file = open(other, Path.of("synced.bin"));
        StorageFile written = open(other, Path.of("written.bin"));
        DeviceBuffer buffer = Objects.requireNonNull(other.allocate(100).block(LONG));
        broken.queue.hold = true;
        var write = other.submit(Transfer.write(buffer.all(), written.region(0, 100)))
                .toFuture();
        var inFlight = file.sync().toFuture();
        var behindTheWrite = written.sync().toFuture();
        StorageFile cancelled = open(other, Path.of("cancelled.bin"));
        var given = other.submit(Transfer.write(buffer.all(), cancelled.region(0, 100)))
                .subscribe();
        await(() -> broken.queue.held.size() == 3);
        given.dispose();
        var behindTheCancelled = cancelled.sync().toFuture();
        broken.queue.breakWith("a bug");
        assertLost(write);
        assertLost(inFlight);
        assertLost(behindTheWrite);
        assertLost(behindTheCancelled);
        assertLost(file.sync().toFuture());
        file.close();
        written.close();
        cancelled.close();
        List<BusyRegions.AbandonedTransfer> abandonedTransfers = BusyRegions.ALL.all();
        assertThat(abandonedTransfers).as("the device may still write").hasSize(1);
        abandonedTransfers.forEach(BusyRegions.ALL::remove); // for the tests that come later
        other.close();
    }

    @Test
    void aCopyIsReported() {
        FakeDevice broken = new FakeDevice(Limits.none(1 << 20));
        broken.opaque = true; // so that copies go through a bounce buffer, on the I/O queue
        Options options = Options.none()
                .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50))
                .resolve(CommonOptions.all());
        Backend other = Engine.open("broken", broken, List.of(broken), options);
        DeviceBuffer buffer = Objects.requireNonNull(other.allocate(100).block(LONG));
        assertThat(buffer.upload(0, ByteBuffer.allocateDirect(100)).block(LONG)).isEqualTo(100);
        int freed = broken.freed.get(); // bounce buffers of copies that have ended
        broken.queue.keepsCopies = true;
        List<CompletableFuture<Long>> copies = new ArrayList<>();
        for (int i = 0; i < 2 * broken.queue.depth(); i += 2) { // half of them wait for others' ids
            copies.add(buffer.upload(0, ByteBuffer.allocateDirect(100)).toFuture());
            copies.add(buffer.download(0, ByteBuffer.allocateDirect(100)).toFuture());
        }
        await(() -> broken.queue.keptCopies.get() == broken.queue.depth());
        assertThat(copies).noneMatch(CompletableFuture::isDone);
        broken.queue.breakWith("a bug");
        copies.forEach(BrokenQueueTest::assertLost);
        assertLost(buffer.upload(0, ByteBuffer.allocateDirect(100)).toFuture());
        buffer.close();
        int notStarted = copies.size() - broken.queue.depth() + 1;
        assertThat(broken.freed).as("the device may still write the others").hasValue(freed + notStarted);
        other.close();
    }

    /** Opens a backend over a device that is about to break, and has a moment to close. */
    private static Backend open(FakeDevice device) {
        Options options = Options.none().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50));
        return Engine.open("broken", device, List.of(device), options.resolve(CommonOptions.all()));
    }

    @Test
    void whatComesToABrokenQueueKeepsNothing() throws InterruptedException {
        FakeDevice broken = new FakeDevice(Limits.none(1 << 20));
        broken.opaque = true;
        broken.makesPoints = true;
        Backend backend = open(broken);
        StorageFile file = open(backend, PATH);
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
        Transfer write = Transfer.write(buffer.all(), file.region(0, 100));
        assertThat(backend.submit(write).toFuture()).succeedsWithin(LONG);
        broken.queue.breakWith("a bug");
        broken.queue.awaitEnd();
        for (int i = 0; i < 3; i++) {
            assertNotStarted(backend.submit(write).toFuture());
            assertNotStarted(buffer.upload(0, ByteBuffer.allocateDirect(100)).toFuture());
            assertNotStarted(buffer.download(0, ByteBuffer.allocateDirect(100)).toFuture());
            assertNotStarted(backend.enqueue(write).toFuture());
        }
        assertLost(file.sync().toFuture());
        buffer.close();
        file.close();
        backend.close();
        assertThat(broken.closed).as("the backend waits for what was refused").isTrue();
        assertThat(broken.freed).hasValue(broken.allocated.get());
        assertThat(broken.files.get(PATH).closed).isTrue();
        assertThat(broken.points).allMatch(point -> point.frees.get() == 1);
    }

    @Test
    void whatWaitsOnAQueueThatBreaksKeepsNothing() {
        FakeDevice broken = new FakeDevice(Limits.none(1 << 20));
        broken.opaque = true;
        Backend backend = open(broken);
        StorageFile file = open(backend, PATH);
        DeviceBuffer used = Objects.requireNonNull(backend.allocate(100).block(LONG));
        DeviceBuffer waiting = Objects.requireNonNull(backend.allocate(100).block(LONG));
        broken.queue.hold = true;
        List<CompletableFuture<?>> ends = new ArrayList<>();
        for (int i = 0; i < broken.queue.depth(); i++) {
            ends.add(backend.submit(Transfer.read(file.region(0, 100), used.all()))
                    .toFuture());
        }
        await(() -> broken.queue.held.size() == broken.queue.depth());
        ends.add(backend.submit(Transfer.read(file.region(0, 100), waiting.all()))
                .toFuture());
        ends.add(
                backend.submit(Transfer.read(file.region(0, 100), waiting.all()).after(new FakeFence()))
                        .toFuture());
        ends.add(waiting.upload(0, ByteBuffer.allocateDirect(100)).toFuture());
        broken.queue.breakWith("a bug");
        ends.forEach(BrokenQueueTest::assertLost);
        used.close();
        waiting.close();
        assertThat(broken.freed)
                .as("the buffer that waited, and the bounce buffer")
                .hasValue(2);
        file.close();
        backend.close();
        assertThat(broken.closed).as("the device may still read into the other").isFalse();
    }

    @Test
    void aTransferOfAnotherQueueDoesNotWaitForALostOneOfItsOrderKey() {
        FakeDevice broken = new FakeDevice(Limits.none(1 << 20));
        broken.ioQueues = 2;
        Backend backend = open(broken);
        StorageFile file = open(backend, PATH);
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
        broken.queue.hold = true;
        Transfer read = Transfer.read(file.region(0, 10), buffer.region(0, 10));
        var lost = backend.submit(read.ordered("key")).toFuture();
        await(() -> broken.queue.held.size() == 1);
        fillTheFirstQueue(backend, read);
        var behind = backend.submit(read.ordered("key")).toFuture(); // on the other
        assertThat(behind).isNotDone();
        broken.queue.breakWith("a bug");
        assertThat(behind).succeedsWithin(LONG);
        assertLost(lost);
        backend.close();
    }

    /**
     * A lost write may still reach its blocks (rule 206), so that nothing else may write them; but nobody waits for it.
     */
    @Test
    void aWriteOfAnotherQueueDoesNotWaitForTheBlocksOfALostOne() {
        FakeDevice broken = new FakeDevice(new Limits(512, 1, 1 << 20, 1 << 20, false));
        broken.ioQueues = 2;
        Backend backend = open(broken);
        broken.files.put(PATH, broken.new MemoryFile(new byte[4096]));
        StorageFile file = open(backend, PATH);
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
        broken.queue.hold = true;
        Transfer merge = Transfer.write(buffer.region(0, 10), file.region(5, 10));
        var lost = backend.submit(merge).toFuture();
        await(() -> broken.queue.held.size() == 1);
        broken.queue.release(broken.queue.held.keySet().iterator().next()); // the block is read
        await(() -> broken.queue.held.size() == 1); // and is being written back
        Transfer aside = Transfer.write(buffer.region(0, 10), file.region(1024, 10));
        fillTheFirstQueue(backend, Transfer.read(file.region(2048, 10), buffer.region(50, 10)));
        var waiting = backend.submit(merge).toFuture(); // on the other
        assertThat(waiting).isNotDone();
        broken.queue.breakWith("a bug");
        assertLost(lost);
        assertBehindLost(waiting);
        assertBehindLost(backend.submit(merge).toFuture());
        assertThat(backend.submit(aside).toFuture()).as("other blocks").succeedsWithin(LONG);
        backend.close();
    }

    @Test
    void laterTransfersGoToQueuesThatWork() {
        FakeDevice broken = new FakeDevice(Limits.none(1 << 20));
        broken.ioQueues = 2;
        Backend backend = open(broken);
        StorageFile file = open(backend, PATH);
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
        Transfer read = Transfer.read(file.region(0, 10), buffer.region(0, 10));
        broken.queue.hold = true;
        var lost = backend.submit(read).toFuture();
        await(() -> broken.queue.held.size() == 1);
        broken.queue.breakWith("a bug");
        assertLost(lost);
        for (int i = 0; i < 40; i++) {
            assertThat(backend.submit(read).toFuture()).succeedsWithin(LONG);
        }
        backend.close();
    }

    /**
     * Direct delivery signals the failure on the thread of the queue that breaks, and so the retry comes from there.
     */
    @Test
    void aRetryOnTheThreadOfTheBrokenQueueGoesToOneThatWorks() {
        FakeDevice broken = new FakeDevice(Limits.none(1 << 20));
        broken.ioQueues = 2;
        Options direct = Options.none()
                .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50))
                .with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
        Backend backend = Engine.open("broken", broken, List.of(broken), direct.resolve(CommonOptions.all()));
        StorageFile file = open(backend, PATH);
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
        List<Thread> failed = new ArrayList<>();
        broken.queue.hold = true;
        var read = backend.submit(Transfer.read(file.region(0, 10), buffer.region(0, 10)))
                .doOnError(e -> failed.add(Thread.currentThread()))
                .retry(1)
                .toFuture();
        await(() -> broken.queue.held.size() == 1);
        assertThat(read).isNotDone();
        broken.queue.breakWith("a bug");
        assertThat(read).succeedsWithin(LONG);
        assertThat(failed).hasSize(1).first().isInstanceOf(IoThread.class);
        backend.close();
    }

    /**
     * Until transfers go to the second one, which ends them: the next one goes there too once two in a row have ended.
     */
    private static void fillTheFirstQueue(Backend backend, Transfer transfer) {
        int[] ended = {0};
        await(() -> {
            CompletableFuture<Completion> end = backend.submit(transfer).toFuture();
            end.completeOnTimeout(null, 20, TimeUnit.MILLISECONDS).join(); // of the first queue
            ended[0] = end.getNow(null) == null ? 0 : ended[0] + 1;
            return ended[0] == 2;
        });
    }

    private static void assertBehindLost(CompletableFuture<?> end) {
        assertThat(end)
                .failsWithin(LONG)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(PermanentStorageException.class)
                .withMessageContaining("a write of the same blocks was lost");
    }

    private static StorageFile open(Backend backend, Path path) {
        return Objects.requireNonNull(
                backend.openFile(path, FileOption.READ, FileOption.WRITE).block(LONG));
    }

    private static void assertLost(CompletableFuture<?> end) {
        assertThat(end).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(DeviceLostException.class);
    }

    private static void assertNotStarted(CompletableFuture<?> end) {
        assertThat(end).failsWithin(LONG).withThrowableThat().havingCause().satisfies(e -> {
            assertThat(e).isInstanceOf(DeviceLostException.class);
            assertThat(((PenstockException) e).outcome()).isEqualTo(Outcome.NOT_STARTED);
        });
    }
}
