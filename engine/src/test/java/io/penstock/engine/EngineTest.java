// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static io.penstock.engine.testing.BackendFixture.await;
import static io.penstock.engine.testing.BackendFixture.content;
import static io.penstock.engine.testing.BackendFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.engine.FakeDevice.MemoryFile;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.Request;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The engine over a device whose commands the test ends. */
class EngineTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");

    private final int filesBefore = BlockLocks.files(); // an I/O queue that broke leaves its file open, by rule 601
    private FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private Backend backend = open(device);

    private static Backend open(FakeDevice device) {
        Options options = Options.none().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofSeconds(5));
        return Engine.open("fake", device, List.of(device), options.resolve(CommonOptions.all()));
    }

    private void granular() {
        backend.close();
        device = new FakeDevice(new Limits(512, 1, 1 << 20, 4096, false));
        backend = open(device);
    }

    @AfterEach
    void nothingLeaks() {
        backend.close();
        assertThat(device.freed).hasValue(device.allocated.get());
        assertThat(BlockLocks.files()).isEqualTo(filesBefore);
        assertThat(BusyRegions.ALL.isEmpty()).isTrue();
    }

    private StorageFile file(byte[] bytes) {
        device.files.put(PATH, device.new MemoryFile(bytes));
        return Objects.requireNonNull(
                backend.openFile(PATH, FileOption.READ, FileOption.WRITE).block(LONG));
    }

    private DeviceBuffer buffer(long bytes) {
        return Objects.requireNonNull(backend.allocate(bytes).block(LONG));
    }

    private Completion run(Transfer transfer) {
        return Objects.requireNonNull(backend.submit(transfer).block(LONG));
    }

    @Test
    void aLargeReadIsDividedWhereTheQueueExecutesSeveralRequestsAtATime() {
        byte[] bytes = random(1_000_000, 1);
        StorageFile file = file(bytes);
        DeviceBuffer buffer = buffer(1_000_000);
        device.queue.idleParallelism = 3;
        assertThat(run(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(1_000_000);
        assertThat(content(buffer)).isEqualTo(bytes);
        assertThat(device.queue.transfers).hasValue(3);
    }

    @Test
    void shortCountsAreContinuedUntilAllIsThere() {
        byte[] bytes = random(10_000, 1);
        StorageFile file = file(bytes);
        DeviceBuffer buffer = buffer(10_000);
        device.queue.shortBy = 777;
        assertThat(run(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(10_000);
        assertThat(content(buffer)).isEqualTo(bytes);
    }

    @Test
    void aReadBeyondTheEndReportsTheBytesOfEachPair() {
        StorageFile file = file(random(1000, 2));
        DeviceBuffer buffer = buffer(2000);
        Completion done = run(Transfer.read(file.region(0, 500), buffer.region(0, 500))
                .and(file.region(900, 500), buffer.region(500, 500))
                .and(file.region(5000, 10), buffer.region(1000, 10)));
        assertThat(done.bytes()).isEqualTo(600);
        assertThat(List.of(done.bytes(0), done.bytes(1), done.bytes(2))).containsExactly(500L, 100L, 0L);
    }

    @Test
    void aWriteWithUnalignedEdgesChangesNoOtherByteAndKeepsTheLength() {
        granular();
        byte[] before = random(5000, 3);
        StorageFile file = file(before.clone());
        DeviceBuffer buffer = buffer(4000);
        byte[] news = random(4000, 4);
        StepVerifier.create(buffer.upload(0, ByteBuffer.wrap(news)))
                .expectNext(4000L)
                .expectComplete()
                .verify(LONG);
        run(Transfer.write(buffer.region(0, 3333), file.region(333, 3333)));
        byte[] expected = before.clone();
        System.arraycopy(news, 0, expected, 333, 3333);
        assertThat(device.files.get(PATH).bytes).isEqualTo(expected);

        run(Transfer.write(buffer.region(1, 100), file.region(5050, 100)));
        expected = Arrays.copyOf(expected, 5150);
        System.arraycopy(news, 1, expected, 5050, 100);
        assertThat(device.files.get(PATH).bytes).as("a hole reads as zeros").isEqualTo(expected);
    }

    @Test
    void concurrentWritesToTheSameBlockAllLand() {
        granular();
        StorageFile file = file(new byte[0]);
        DeviceBuffer buffer = buffer(64 * 100);
        byte[] news = random(64 * 100, 5);
        buffer.upload(0, ByteBuffer.wrap(news)).block(LONG);
        List<Mono<Completion>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(backend.submit(Transfer.write(buffer.region(i * 64L, 64), file.region(i * 64L, 64))));
        }
        Flux.merge(all).blockLast(LONG);
        assertThat(device.files.get(PATH).bytes).isEqualTo(news);
    }

    /**
     * A write of one block finds the file long enough, since a neighbour has lengthened it for a moment to whole
     * blocks, and shorter once it reads the block: what it then cuts to length must not take bytes written behind it.
     */
    @Test
    void aMergeThatFindsTheFileCutShortTakesNoBytesFromBehindIt() throws InterruptedException {
        granular();
        StorageFile file = file(random(1024, 12));
        byte[] news = random(536, 13);
        DeviceBuffer buffer = buffer(537);
        buffer.hostView().orElseThrow().write(0, ByteBuffer.wrap(news));
        device.queue.hold = true;
        List<Mono<Completion>> all = new ArrayList<>();
        all.add(started(Transfer.write(buffer.region(0, 24), file.region(1000, 24))));
        await(() -> device.queue.held.size() == 1);
        device.files.get(PATH).resize(1000);
        device.queue.release(device.queue.held.keySet().iterator().next());
        await(() -> device.queue.held.size() == 1);
        all.add(started(Transfer.write(buffer.region(24, 512), file.region(1024, 512))));
        all.add(started(Transfer.read(file.region(0, 1), buffer.region(536, 1))));
        await(() -> held(0).isPresent()); // the I/O queue has seen the write before it, too
        held(1024).ifPresent(behind -> {
            device.queue.release(behind.id());
            all.get(1).block(LONG);
        });
        device.queue.releaseAll();
        all.forEach(one -> one.block(LONG));
        assertThat(device.files.get(PATH).bytes).hasSize(1536);
        assertThat(Arrays.copyOfRange(device.files.get(PATH).bytes, 1000, 1536)).isEqualTo(news);
    }

    private Mono<Completion> started(Transfer transfer) {
        Mono<Completion> shared = backend.submit(transfer).cache();
        shared.subscribe();
        return shared;
    }

    private Optional<FakeQueue.Taken> held(long fileOffset) {
        synchronized (device.queue) {
            return device.queue.held.values().stream()
                    .filter(taken -> taken.fileOffset() == fileOffset)
                    .findFirst();
        }
    }

    @Test
    void aCancelledReadKeepsItsBufferUntilTheDeviceHasReleasedIt() throws InterruptedException {
        StorageFile file = file(random(100, 6));
        DeviceBuffer buffer = buffer(100);
        device.queue.hold = true;
        Disposable subscription =
                backend.submit(Transfer.read(file.all(), buffer.all())).subscribe();
        await(() -> device.queue.held.size() == 1);
        subscription.dispose();
        buffer.close();
        await(() -> !device.queue.cancelled.isEmpty());
        assertThat(device.freed).as("freed while the device may still write").hasValue(0);
        device.queue.releaseAll();
        await(() -> device.freed.get() == 1);
    }

    @Test
    void aLaterTransferWaitsBehindAnOverlappingAbandoned() throws InterruptedException {
        StorageFile file = file(random(100, 7));
        DeviceBuffer buffer = buffer(100);
        device.queue.hold = true;
        Disposable abandoned =
                backend.submit(Transfer.read(file.all(), buffer.all())).subscribe();
        await(() -> device.queue.held.size() == 1);
        abandoned.dispose();
        CountDownLatch ended = new CountDownLatch(1);
        backend.submit(Transfer.read(file.region(0, 10), buffer.region(90, 10)))
                .doOnTerminate(ended::countDown)
                .subscribe();
        backend.submit(Transfer.read(file.region(0, 10), buffer(10).all())).subscribe();
        await(() -> device.queue.held.size() == 2);
        assertThat(ended.getCount()).isEqualTo(1);
        device.queue.releaseAll();
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aFailureNamesTheRequestAndTheNativeResult() {
        StorageFile file = file(random(100, 8));
        DeviceBuffer buffer = buffer(100);
        device.queue.failWith = -5;
        assertThatThrownBy(() -> run(Transfer.read(file.all(), buffer.all())))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("read of 100 bytes at 0 of model.bin failed: fake -> EFAKE (5)");
        assertThat(run(Transfer.read(file.all(), buffer.all())).bytes())
                .as("the next works")
                .isEqualTo(100);
    }

    @Test
    void aFailureReportsTheBytesOfEachPairIncludingSegmentsThatWereNeverStarted() {
        StorageFile file = file(random(5000, 20));
        DeviceBuffer buffer = buffer(5000);
        device.queue.failFrom = 2000;
        Transfer transfer = Transfer.read(file.region(0, 1000), buffer.region(0, 1000));
        for (int i = 1; i < 40; i++) {
            transfer = transfer.and(file.region(i * 120L, 100), buffer.region(i * 120L, 100));
        }
        Transfer all = transfer;
        assertThatThrownBy(() -> run(all)).isInstanceOfSatisfying(PermanentStorageException.class, e -> {
            assertThat(e.outcome()).isEqualTo(Outcome.PARTIAL);
            assertThat(e.bytes(0)).isEqualTo(1000);
            assertThat(e.bytes(39)).as("never started").isZero();
            long sum = 0;
            for (int pair = 0; pair < 40; pair++) {
                sum += e.bytes(pair);
            }
            assertThat(e.bytes()).isEqualTo(sum);
        });
    }

    @Test
    void anInterruptedCommandIsSubmittedAgain() {
        StorageFile file = file(random(100, 9));
        DeviceBuffer buffer = buffer(100);
        device.queue.failWith = -4;
        assertThat(run(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(100);
    }

    @Test
    void aDeadlineSignalsWhenTheDeviceHasReleasedTheBuffer() throws InterruptedException {
        StorageFile file = file(random(100, 10));
        DeviceBuffer buffer = buffer(100);
        device.queue.hold = true;
        CountDownLatch ended = new CountDownLatch(1);
        Throwable[] error = new Throwable[1];
        Duration enoughToStart = Duration.ofSeconds(2); // on a slow machine
        backend.submit(Transfer.read(file.all(), buffer.all()).deadline(enoughToStart))
                .subscribe(done -> {}, e -> {
                    error[0] = e;
                    ended.countDown();
                });
        await(() -> !device.queue.cancelled.isEmpty());
        assertThat(ended.getCount()).isEqualTo(1);
        int id = device.queue.held.keySet().iterator().next();
        device.queue.end(id, -125);
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(error[0]).isInstanceOf(PermanentStorageException.class).hasMessageContaining("deadline");
        device.queue.releaseAll();
    }

    @Test
    void aDeadlineThatPassesBeforeTheStartStartsNothing() throws InterruptedException {
        StorageFile file = file(random(100, 11));
        DeviceBuffer buffer = buffer(300);
        device.queue.hold = true;
        backend.submit(Transfer.read(file.all(), buffer.region(0, 100)).ordered("k"))
                .subscribe();
        StepVerifier.create(backend.submit(Transfer.read(file.all(), buffer.region(100, 100))
                        .ordered("k")
                        .deadline(Duration.ofMillis(5))))
                .expectErrorSatisfies(e -> {
                    assertThat(e).isInstanceOf(TransientStorageException.class);
                    assertThat(((TransientStorageException) e).outcome()).isEqualTo(Outcome.NOT_STARTED);
                })
                .verify(LONG);
        device.queue.releaseAll();
        assertThat(run(Transfer.read(file.all(), buffer.region(200, 100)).ordered("k"))
                        .bytes())
                .isEqualTo(100);
    }

    @Test
    void aSyncWaitsForTheWritesBeforeIt() throws InterruptedException {
        StorageFile file = file(new byte[100]);
        DeviceBuffer buffer = buffer(100);
        device.queue.hold = true;
        backend.submit(Transfer.write(buffer.all(), file.all())).subscribe();
        CountDownLatch synced = new CountDownLatch(1);
        file.sync().doOnTerminate(synced::countDown).subscribe();
        await(() -> device.queue.held.size() == 1);
        assertThat(device.queue
                        .held
                        .get(device.queue.held.keySet().iterator().next())
                        .kind())
                .isEqualTo(Request.Kind.WRITE);
        device.queue.releaseAll();
        assertThat(synced.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void closeAbandonsWhatDoesNotEndAndFreesItWhenItDoes() throws InterruptedException {
        FakeDevice stuck = new FakeDevice(Limits.none(1 << 20));
        Backend other = Engine.open(
                "stuck",
                stuck,
                List.of(stuck),
                Options.none()
                        .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50))
                        .resolve(CommonOptions.all()));
        MemoryFile bytes = stuck.new MemoryFile(random(100, 12));
        stuck.files.put(PATH, bytes);
        StorageFile file = Objects.requireNonNull(other.openFile(PATH).block(LONG));
        DeviceBuffer buffer = Objects.requireNonNull(other.allocate(100).block(LONG));
        stuck.queue.hold = true;
        Throwable[] error = new Throwable[1];
        CountDownLatch ended = new CountDownLatch(1);
        other.submit(Transfer.read(file.all(), buffer.all())).subscribe(done -> {}, e -> {
            error[0] = e;
            ended.countDown();
        });
        CountDownLatch heldEnded = new CountDownLatch(1);
        Throwable[] heldError = new Throwable[1];
        await(() -> stuck.queue.held.size() == 1);
        Disposable abandoned = other.submit(
                        Transfer.read(file.all(), buffer.all()).ordered("k"))
                .subscribe();
        await(() -> stuck.queue.held.size() == 2);
        other.submit(Transfer.read(file.all(), buffer.all()).ordered("k")).subscribe(done -> {}, e -> {
            heldError[0] = e;
            heldEnded.countDown();
        });
        abandoned.dispose();
        other.close();
        assertThat(heldEnded.await(20, TimeUnit.SECONDS))
                .as("one that waits for its turn")
                .isTrue();
        assertThat(heldError[0]).isInstanceOf(io.penstock.ClosedException.class);
        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(error[0]).isInstanceOf(io.penstock.ClosedException.class);
        assertThat(stuck.freed).hasValue(0);
        stuck.queue.releaseAll();
        await(() -> stuck.freed.get() == 1 && bytes.closed);
        await(() -> BusyRegions.ALL.isEmpty() && BlockLocks.files() == filesBefore);
    }

    /** As operators do that take one value: next(), take(1). */
    @Test
    void aFenceStaysWithASubscriberThatCancelsOnceItHasIt() {
        StorageFile file = file(random(100, 6));
        DeviceBuffer buffer = buffer(100);
        device.queue.hold = true;
        DeviceFence fence = Objects.requireNonNull(backend.enqueue(Transfer.read(file.all(), buffer.all()))
                .flux()
                .take(1)
                .blockLast(LONG));
        await(() -> device.queue.held.size() == 1);
        device.queue.releaseAll();
        assertThat(Objects.requireNonNull(fence.outcome().block(LONG)).bytes()).isEqualTo(100);
        assertThat(device.queue.cancelled).isEmpty();
        fence.close();
    }
}
