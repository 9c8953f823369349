// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import static io.penstock.engine.testing.BackendFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.FakeFence;
import io.penstock.engine.FakePoint;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.test.StepVerifier;

/** Fences that stand in a device's own order: when they are handed out, and when they go. */
class FenceOrderTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("weights.bin");
    private static final int SEGMENT = 4096;

    private final FakeDevice device = new FakeDevice(new Limits(1, 1, 1 << 20, SEGMENT, false));
    private final Backend backend = Engine.open(
            "fake",
            device,
            List.of(device),
            Options.none()
                    .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofSeconds(5))
                    .resolve(CommonOptions.all()));
    private final List<DeviceFence> fences = new CopyOnWriteArrayList<>();
    private StorageFile file;
    private DeviceBuffer buffer;
    private boolean refused;

    @BeforeEach
    void open() {
        device.makesPoints = true;
        device.files.put(PATH, device.new MemoryFile(new byte[3 * SEGMENT]));
        file = Objects.requireNonNull(
                backend.openFile(PATH, FileOption.READ, FileOption.WRITE).block(LONG));
        buffer = Objects.requireNonNull(backend.allocate(3 * SEGMENT).block(LONG));
    }

    @AfterEach
    void everyPointIsPlacedAndFreedOnce() {
        device.queue.releaseAll();
        fences.forEach(DeviceFence::close);
        backend.close();
        assertThat(device.points).allSatisfy(point -> {
            assertThat(point.places).hasValue(refused ? 0 : 1);
            assertThat(point.frees).hasValue(1);
        });
    }

    private Disposable enqueue(Transfer transfer) {
        return backend.enqueue(transfer).subscribe(fences::add);
    }

    private Transfer read() {
        return Transfer.read(file.all(), buffer.all());
    }

    /** Earlier calls of the backend have been processed when another transfer has completed. */
    private void letOthersRun() {
        boolean held = device.queue.hold;
        device.queue.hold = false;
        Transfer other = Transfer.read(file.region(0, 1), buffer.region(0, 1));
        for (int i = 0; i < 4; i++) {
            backend.submit(other).block(LONG);
        }
        device.queue.hold = held;
    }

    @Test
    void aFenceIsEmittedWhenEveryCommandIsStreamOrdered() {
        device.queue.hold = true;
        enqueue(read());
        await(() -> device.queue.held.size() == 3);
        List<Integer> ids = List.copyOf(device.queue.held.keySet());
        device.queue.joining.get(ids.get(2)).run();
        device.queue.joining.get(ids.get(0)).run();
        letOthersRun();
        assertThat(fences).as("handed out while a command is missing").isEmpty();
        assertThat(device.points.get(0).places).hasValue(0);

        device.queue.joining.get(ids.get(1)).run();
        await(() -> fences.size() == 1);
        DeviceFence fence = fences.get(0);
        assertThat(fence.nativeHandle()).isEqualTo(FakePoint.HANDLE);
        assertThat(fence.isSignalled()).as("signalled while the device copies").isFalse();

        device.queue.releaseAll();
        assertThat(Objects.requireNonNull(fence.outcome().block(LONG)).bytes()).isEqualTo(3 * SEGMENT);
        assertThat(fence.isSignalled()).isTrue();
        assertThat(device.points.get(0).frees)
                .as("freed while the fence is held")
                .hasValue(0);
    }

    /** Whether it moved a part, or was interrupted. */
    @ParameterizedTest
    @CsvSource({"true, 2048", "false, 2048", "true, -4", "false, -4"})
    void aReadThatIsRepeatedFailsIfOthersMayAlreadyWaitBehindItsFirstRequest(boolean ordered, long result) {
        device.queue.hold = true;
        enqueue(Transfer.read(file.region(0, SEGMENT), buffer.region(0, SEGMENT)));
        await(() -> device.queue.held.size() == 1);
        int first = device.queue.held.keySet().iterator().next();
        if (ordered) {
            device.queue.joining.get(first).run();
        }
        device.queue.end(first, result);
        await(() -> !device.queue.held.isEmpty());
        device.queue.releaseAll();
        await(() -> fences.size() == 1);
        StepVerifier.FirstStep<Completion> outcome =
                StepVerifier.create(fences.get(0).outcome());
        if (ordered) {
            outcome.expectErrorSatisfies(e -> assertThat(e)
                            .isInstanceOf(PermanentStorageException.class)
                            .hasMessageContaining("may have run before the last"))
                    .verify(LONG);
        } else {
            outcome.expectNextMatches(done -> done.bytes() == SEGMENT)
                    .expectComplete()
                    .verify(LONG);
        }
    }

    @Test
    void aQueueThatDoesNotReportOrderEmitsTheFenceWhenItsCommandsHaveEnded() {
        device.queue.hold = true;
        enqueue(read());
        await(() -> device.queue.held.size() == 3);
        letOthersRun();
        assertThat(fences).isEmpty();
        device.queue.releaseAll();
        await(() -> fences.size() == 1);
        assertThat(Objects.requireNonNull(fences.get(0).outcome().block(LONG)).bytes())
                .isEqualTo(3 * SEGMENT);
    }

    @Test
    void aWriteIsInOrderWhenTheFileHasIt() {
        device.queue.hold = true;
        enqueue(Transfer.write(buffer.region(0, SEGMENT), file.region(0, SEGMENT)));
        await(() -> device.queue.held.size() == 1);
        assertThat(device.queue.joining).isEmpty();
        letOthersRun();
        assertThat(fences).isEmpty();
        device.queue.releaseAll();
        await(() -> fences.size() == 1);
    }

    @Test
    void aFailureHandsTheFenceOutTooAndIsItsOutcome() {
        device.queue.failFrom = SEGMENT;
        enqueue(read());
        await(() -> fences.size() == 1);
        StepVerifier.create(fences.get(0).signalled()).expectComplete().verify(LONG);
        StepVerifier.create(fences.get(0).outcome())
                .expectError(PermanentStorageException.class)
                .verify(LONG);
    }

    @Test
    void aFenceThatIsClosedEarlyIsFreedWhenTheTransferHasEnded() {
        device.queue.hold = true;
        enqueue(read());
        await(() -> device.queue.joining.size() == 3);
        device.queue.joining.values().forEach(Runnable::run);
        await(() -> fences.size() == 1);
        fences.get(0).close();
        fences.get(0).close();
        assertThat(device.points.get(0).frees)
                .as("freed while the device copies")
                .hasValue(0);
        device.queue.releaseAll();
        await(() -> device.points.get(0).frees.get() == 1);
    }

    @Test
    void cancellingBeforeTheFenceIsPlacedCancelsOnTheDeviceAndFreesThePoint() {
        device.queue.hold = true;
        Disposable enqueued = enqueue(read());
        await(() -> device.queue.held.size() == 3);
        enqueued.dispose();
        await(() -> device.queue.cancelled.size() == 3);
        assertThat(device.points.get(0).frees)
                .as("freed while the device copies")
                .hasValue(0);
        device.queue.releaseAll();
        await(() -> device.points.get(0).frees.get() == 1);
        assertThat(fences).isEmpty();
    }

    @Test
    void aTransferThatIsOverdueBeforeItStartsHandsItsFenceOutWithTheReason() {
        enqueue(read().after(new FakeFence()).deadline(Duration.ofMillis(1)));
        await(() -> fences.size() == 1); // work that waits on it would wait for ever
        assertThat(device.points.get(0).places).hasValue(1);
        StepVerifier.create(fences.get(0).outcome())
                .expectErrorSatisfies(
                        e -> assertThat(((PenstockException) e).outcome()).isEqualTo(Outcome.NOT_STARTED))
                .verify(LONG);
    }

    @Test
    void aTransferThatIsCancelledBeforeItStartsPlacesItsFenceAndFreesIt() {
        FakeFence never = new FakeFence();
        Disposable enqueued = enqueue(read().after(never));
        await(() -> device.points.size() == 1);
        letOthersRun();
        enqueued.dispose();
        await(() -> device.points.get(0).frees.get() == 1);
        assertThat(device.points.get(0).places).hasValue(1);
        assertThat(device.queue.transfers.get())
                .as("transfers but the other one's")
                .isEqualTo(4);
        assertThat(fences).isEmpty();
    }

    @Test
    void aTransferThatIsRefusedFreesItsPoint() {
        refused = true;
        Transfer read = read();
        buffer.close();
        StepVerifier.create(backend.enqueue(read))
                .expectError(ClosedException.class)
                .verify(LONG);
        StepVerifier.create(backend.submit(read.after(new FakeFence())))
                .expectError(ClosedException.class)
                .verify(LONG);
        backend.close();
        StepVerifier.create(backend.enqueue(read))
                .expectError(ClosedException.class)
                .verify(LONG);
        await(() -> device.points.stream().allMatch(point -> point.frees.get() == 1));
        assertThat(device.points).hasSize(3);
    }

    @Test
    void aFenceThatWasNotHandedOutAtCloseIsAnError() {
        FakeDevice stuck = new FakeDevice(Limits.none(1 << 20));
        stuck.makesPoints = true;
        stuck.files.put(PATH, stuck.new MemoryFile(new byte[100]));
        Backend closing = Engine.open(
                "stuck",
                stuck,
                List.of(stuck),
                Options.none()
                        .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50))
                        .resolve(CommonOptions.all()));
        StorageFile other = Objects.requireNonNull(closing.openFile(PATH).block(LONG));
        DeviceBuffer target = Objects.requireNonNull(closing.allocate(100).block(LONG));
        stuck.queue.hold = true;
        StepVerifier.create(closing.enqueue(Transfer.read(other.all(), target.all())))
                .then(() -> await(() -> stuck.queue.held.size() == 1))
                .then(closing::close)
                .expectError(ClosedException.class)
                .verify(LONG);
        stuck.queue.releaseAll();
        await(() -> stuck.freed.get() == 1 && stuck.points.get(0).frees.get() == 1);
    }

    private DeviceFence fenceBehindAHeldRead() {
        device.queue.hold = true;
        enqueue(read());
        await(() -> device.queue.joining.size() == 3);
        device.queue.joining.values().forEach(Runnable::run);
        await(() -> fences.size() == 1);
        return fences.get(0);
    }

    @Test
    void aFenceThatCommandsAwaitOnTheDeviceDoesNotHoldTheTransferBack() {
        DeviceFence fence = fenceBehindAHeldRead();
        device.waits = true;
        Transfer behind = Transfer.read(file.region(0, SEGMENT), buffer.region(0, SEGMENT))
                .after(fence);
        Disposable submitted = backend.submit(behind).subscribe();
        await(() -> device.queue.held.size() == 4);
        assertThat(device.awaited).containsExactly(FakePoint.HANDLE);
        assertThat(fence.isSignalled()).isFalse();
        device.queue.releaseAll();
        await(submitted::isDisposed);
    }

    @Test
    void aFenceOfTheDriversOwnIsAwaitedThereToo() {
        device.waits = true;
        FakeFence own = new FakeFence();
        own.handle = 0x99;
        Transfer behind = read().after(own);
        assertThat(Objects.requireNonNull(backend.submit(behind).block(LONG)).bytes())
                .as("the device knows when")
                .isEqualTo(3 * SEGMENT);
        assertThat(device.awaited).containsExactly(0x99L);
    }

    @Test
    void ifTheDeviceDoesNotWaitTheQueueDoes() {
        DeviceFence fence = fenceBehindAHeldRead();
        FakeFence mine = new FakeFence();
        Transfer behind = Transfer.read(file.region(0, SEGMENT), buffer.region(0, SEGMENT))
                .after(fence, mine);
        Disposable submitted = backend.submit(behind).subscribe();
        letOthersRun();
        assertThat(device.awaited)
                .as("asked once, and not about what has no native object")
                .hasSize(1);
        assertThat(device.queue.held).as("started before its fences").hasSize(3);
        mine.pass();
        device.queue.releaseAll();
        await(submitted::isDisposed);
    }

    @Test
    void aFenceThatIsOverHasNoNativeObjectToAskAbout() {
        AtomicInteger asked = new AtomicInteger();
        FenceOrder order = new FenceOrder(new FakePoint(true), false);
        order.allStarted();
        assertThat(order.test(() -> asked.incrementAndGet() > 0)).isTrue();
        order.ended();
        assertThat(order.test(() -> asked.incrementAndGet() > 0)).isFalse();
        assertThat(asked).hasValue(1);
    }

    @Test
    void plainTransfersNeedNoPointAndThoseBehindAFenceOnlyIfTheDeviceWaitsForIt() {
        backend.submit(read()).block(LONG);
        assertThat(device.points).isEmpty();

        FakeFence passed = new FakeFence();
        passed.pass();
        Completion done = backend.submit(read().after(passed)).block(LONG);
        assertThat(Objects.requireNonNull(done).bytes()).isEqualTo(3 * SEGMENT);
        assertThat(device.points)
                .singleElement()
                .satisfies(point -> assertThat(point.exposed).isFalse());
    }
}
