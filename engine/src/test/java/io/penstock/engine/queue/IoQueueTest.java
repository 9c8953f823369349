// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.FakeFence;
import io.penstock.engine.FakePort;
import io.penstock.engine.FakeQueue;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.order.OrderKeys;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.StepVerifier;

/**
 * An I/O queue that the test turns: turns between transfers, what it forgets when they end, and what it tells of
 * failures.
 */
class IoQueueTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");
    private static final int BLOCK = 512;
    private static final int SEGMENT = 4 * BLOCK;
    private static final int BYTES = 64 * SEGMENT;

    private final FakeDevice device = device();
    private final FakeDevice other = device();
    private final Backend backend =
            Engine.open("fake", device, List.of(device, other), Options.none().resolve(CommonOptions.all()));
    private final FakeQueue queue = new FakeQueue(16);
    private final AtomicLong clock = new AtomicLong(1);
    private final IoQueue ioQueue = new IoQueue(queue, new QueueLimits(16 * SEGMENT, 2 * SEGMENT, 1), clock::get);
    private final Port port = new FakePort(0); // not the backend: these transfers hold no pins to give back
    private StorageFile file;
    private DeviceBuffer buffer;

    private static FakeDevice device() {
        return new FakeDevice(new Limits(BLOCK, 1, 1 << 20, SEGMENT, false));
    }

    @BeforeEach
    void open() {
        device.files.put(PATH, device.new MemoryFile(new byte[BYTES]));
        other.files.put(PATH, other.new MemoryFile(new byte[BYTES]));
        file = Objects.requireNonNull(
                backend.openFile(PATH, FileOption.READ, FileOption.WRITE).block(LONG));
        buffer = Objects.requireNonNull(backend.allocate(BYTES).block(LONG));
    }

    @AfterEach
    void nothingStays() {
        queue.releaseAll();
        turns(10);
        assertThat(ioQueue.known()).as("what the I/O queue still knows of").isZero();
        assertThat(BusyRegions.ALL.isEmpty()).isTrue();
        ioQueue.close();
        backend.close();
    }

    private final class Opened extends OpenTransfer {
        int ends;

        Opened(Transfer transfer) {
            super(port, transfer);
        }

        @Override
        protected void ended() {
            ends++;
        }

        Throwable failure() {
            assertThat(ends).as("terminal signals").isEqualTo(1);
            return Objects.requireNonNull(error(), "it has not failed");
        }
    }

    private Opened accept(Transfer transfer, FakeDevice ioPath) {
        Opened open = new Opened(transfer);
        Admission terms = Admission.of(open, ioQueue, null);
        if (terms != null) {
            terms.enter(new OrderKeys(), ioQueue, open);
            open.admission(terms);
        }
        open.admit(ioPath, ioPath == device ? 0 : 1, ioQueue);
        ioQueue.accept(open);
        return open;
    }

    private Opened accept(Transfer transfer) {
        return accept(transfer, device);
    }

    private void turns(int count) {
        for (int i = 0; i < count; i++) {
            ioQueue.turn(false);
        }
    }

    private Transfer read(long offset, long bytes) {
        return Transfer.read(file.region(offset, bytes), buffer.region(offset, bytes));
    }

    private List<Long> startedAt() {
        return queue.held.values().stream().map(FakeQueue.Taken::fileOffset).toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSizeThatTheDeviceDecidesEndsATransferThereAndTakesNoRoomBehind(boolean read) {
        queue.hold = true;
        for (int i = 0; i < 20; i++) { // more than may be in flight at a time
            Opened late = accept(
                    read ? read(0, SEGMENT) : Transfer.write(buffer.region(0, SEGMENT), file.region(0, SEGMENT)));
            ioQueue.turn(false);
            FakeQueue.Taken first = started();
            first.request().resize(300);
            queue.end(first.id(), 200); // short: the rest of the 300 is asked for, from the start of its block
            turns(2);
            assertThat(late.ends).isZero();
            assertThat(started().bytes()).isEqualTo(300);
            queue.end(started().id(), 300);
            turns(2);
            assertThat(late.ends).isEqualTo(1);
            assertThat(late.error()).isNull();
            assertThat(List.of(late.completion().bytes(), late.completion().bytes(0)))
                    .containsOnly(300L);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aTransferBehindSeveralFencesStartsBehindAllOfThemWhicheverComesLast(int last) {
        List<FakeFence> fences = List.of(new FakeFence(), new FakeFence(), new FakeFence());
        Opened behind = accept(read(0, BLOCK).after(fences.get(0), fences.get(1), fences.get(2)));
        turns(2);
        for (int i = 0; i < fences.size(); i++) {
            if (i != last) {
                fences.get(i).pass();
                turns(2);
                assertThat(queue.transfers).as("while a fence is not signalled").hasValue(0);
            }
        }
        fences.get(last).pass();
        turns(3);
        assertThat(behind.ends).isEqualTo(1);
    }

    private FakeQueue.Taken started() {
        assertThat(queue.held).as("requests in flight").hasSize(1);
        return queue.held.values().iterator().next();
    }

    @Test
    void transfersTakeTurnsSoThatALongOneDelaysNoOther() {
        queue.hold = true;
        Opened longOne = accept(read(0, 32L * SEGMENT));
        Opened shortOne = accept(read(40L * SEGMENT, SEGMENT));
        Opened another = accept(read(50L * SEGMENT, 3L * SEGMENT));
        ioQueue.turn(false);
        assertThat(startedAt().subList(0, 6).stream().map(offset -> offset / SEGMENT))
                .as("segments, two from each transfer in turn")
                .containsExactly(0L, 1L, 40L, 50L, 51L, 2L);
        queue.releaseAll();
        turns(10);
        assertThat(List.of(longOne.ends, shortOne.ends, another.ends)).containsOnly(1);
    }

    @Test
    void aQueueDropsATransferThatEndsBeforeItsStartConditionsAreMet() {
        FakeFence never = new FakeFence();
        Opened cancelled = accept(read(0, BLOCK).after(never));
        Opened overdue = accept(read(0, BLOCK).after(never).deadline(Duration.ofNanos(100)));
        ioQueue.turn(false);
        assertThat(ioQueue.known()).as("two held back, and one deadline").isEqualTo(3);
        cancelled.cancel();
        clock.set(1000);
        turns(2);
        assertThat(ioQueue.known()).isZero();
        assertThat(cancelled.ends).isZero();
        assertThat(((PenstockException) overdue.failure()).outcome()).isEqualTo(Outcome.NOT_STARTED);
        assertThat(queue.transfers).hasValue(0);
    }

    @Test
    void aQueueDropsTheDeadlineOfATransferThatHasEnded() {
        Opened kept = accept(read(0, BLOCK).deadline(Duration.ofHours(1)));
        turns(2);
        assertThat(kept.ends).isEqualTo(1);
        assertThat(ioQueue.known()).as("a deadline of what has ended").isZero();
    }

    @Test
    void aTransferThatEndsWhileTheQueueWaitsHasTheTimeOfItsEnd() {
        queue.hold = true;
        Opened read = accept(read(0, BLOCK));
        ioQueue.turn(false);
        queue.whileWaiting = () -> {
            clock.set(500);
            queue.end(queue.held.keySet().iterator().next(), BLOCK);
        };
        ioQueue.turn(true);
        assertThat(read.ends).isEqualTo(1);
        assertThat(read.startedNanos).isEqualTo(1);
        assertThat(read.endedNanos).isEqualTo(500);
    }

    /** As where the transfer before it in its order ends on another I/O queue, which sends it here. */
    @Test
    void aTransferThatAMessageLetStartHasStartedAfterTheMessage() {
        ioQueue.post(() -> clock.set(300));
        Opened read = accept(read(0, BLOCK));
        turns(2);
        assertThat(read.ends).isEqualTo(1);
        assertThat(read.startedNanos).isEqualTo(300);
    }

    @Test
    void anAbortWithoutACancelIsTheDevicesResult() {
        queue.failWith = -125;
        Opened aborted = accept(read(0, BLOCK));
        turns(2);
        assertThat(aborted.failure())
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("EFAKE")
                .hasMessageContaining("125");
    }

    @Test
    void aQueueThatBreaksSignalsWhatHasNotReachedItYet() {
        queue.hold = true;
        Opened before = accept(read(0, BLOCK));
        ioQueue.turn(false);
        Opened fromElsewhere = accept(read(BLOCK, BLOCK));
        ioQueue.runHere();
        Opened fromTheQueue = accept(read(2L * BLOCK, BLOCK));
        ioQueue.breakDown(new IllegalStateException("a bug"));
        for (Opened open : List.of(before, fromElsewhere, fromTheQueue)) {
            assertThat(open.failure()).isInstanceOf(DeviceLostException.class).hasStackTraceContaining("a bug");
        }
        Opened tooLate = accept(read(3L * BLOCK, BLOCK));
        assertThat(tooLate.failure()).isInstanceOf(DeviceLostException.class);
        before.cancel();
        assertThat(BusyRegions.ALL.isEmpty())
                .as("the mark would never be removed")
                .isTrue();
    }

    @Test
    void aTransferStartsWhenTheLastOfTheAbandonedItMeetsHasEnded() {
        queue.hold = true;
        Opened first = accept(read(0, BLOCK));
        Opened second = accept(read(BLOCK, BLOCK));
        ioQueue.turn(false);
        List<Integer> ids = List.copyOf(queue.held.keySet());
        first.cancel();
        second.cancel();
        Opened behind = accept(read(0, 2L * BLOCK));
        turns(2);
        assertThat(queue.transfers)
                .as("started before the abandoned transfers have ended")
                .hasValue(2);
        queue.release(ids.get(0));
        turns(3);
        assertThat(queue.transfers).as("started before the second has ended").hasValue(2);
        queue.release(ids.get(1));
        turns(3);
        assertThat(queue.transfers).hasValue(3);
        queue.releaseAll();
        turns(2);
        assertThat(behind.ends).isEqualTo(1);
    }

    /**
     * Its cancel came before the I/O queue knew it and has marked nothing, so a later transfer would not wait for it.
     */
    @Test
    void required_205_aTransferThatIsCancelledBeforeItIsAdmittedNeverStarts() {
        Opened late = new Opened(read(0, BLOCK));
        late.cancel();
        assertThat(BusyRegions.ALL.isEmpty()).isTrue();
        late.admit(device, 0, ioQueue);
        ioQueue.accept(late);
        turns(2);
        assertThat(queue.transfers).as("requests of the device").hasValue(0);
        assertThat(late.ends).isZero();
    }

    // Chains: this I/O queue has one for each path.

    @Test
    void aFreeBounceBufferIsAssignedToASegmentOfItsOwnPath() {
        queue.hold = true;
        accept(read(1, 10));
        accept(read(1, 10), other);
        ioQueue.turn(false);
        assertThat(queue.held).as("each path has a bounce buffer").hasSize(2);
        Opened waitsThere = accept(read(BLOCK + 1, 10), other);
        Opened waitsHere = accept(read(BLOCK + 1, 10));
        turns(2);
        assertThat(queue.held).hasSize(2);
        List<Integer> ids = List.copyOf(queue.held.keySet());
        queue.release(ids.get(0));
        turns(3);
        assertThat(startedAt()).as("the second of the first path").containsExactly(0L, (long) BLOCK);
        queue.release(ids.get(1));
        turns(3);
        assertThat(queue.held).hasSize(2);
        queue.releaseAll();
        turns(3);
        assertThat(List.of(waitsHere.ends, waitsThere.ends)).containsOnly(1);
    }

    @Test
    void aSegmentThatIsCancelledWhileItWaitsForABounceBufferDelaysNoOther() {
        queue.hold = true;
        accept(read(1, 10));
        Opened cancelled = accept(read(BLOCK + 1, 10));
        Opened last = accept(read(2 * BLOCK + 1, 10));
        ioQueue.turn(false);
        assertThat(queue.held).hasSize(1);
        cancelled.cancel();
        ioQueue.turn(false);
        assertThat(BusyRegions.ALL.isEmpty()).as("the device never had it").isTrue();
        queue.release(queue.held.keySet().iterator().next());
        turns(3);
        assertThat(startedAt()).containsExactly(2L * BLOCK);
        queue.releaseAll();
        turns(3);
        assertThat(last.ends).isEqualTo(1);
        assertThat(cancelled.ends).isZero();
    }

    @Test
    void aFileWhosePaddingCannotBeCutOffFailsTheWrite() {
        IOException refusal = new IOException("the disk is gone");
        device.files.get(PATH).truncateRefusal = refusal;
        Transfer write = Transfer.write(buffer.region(0, 10), file.region(BYTES, 10));
        StepVerifier.create(backend.submit(write))
                .expectErrorSatisfies(failure -> assertThat(failure)
                        .isInstanceOf(PermanentStorageException.class)
                        .hasMessageContaining((BYTES + 10) + " bytes: the disk is gone")
                        .hasCause(refusal))
                .verify(LONG);
        device.files.get(PATH).truncateRefusal = null;
    }

    @Test
    void aRefusalThatLastsIsAFailureWhenItWasRepeatedOftenEnough() {
        queue.hold = true;
        Opened refused = accept(read(0, BLOCK));
        turns(1);
        for (int times = 0; times <= IoQueue.MOST_RETRIES; times++) {
            assertThat(refused.ends).as("after %d refusals", times).isZero();
            queue.end(queue.held.keySet().iterator().next(), -4);
            turns(2);
        }
        assertThat(refused.failure()).isInstanceOf(TransientStorageException.class);
        assertThat(queue.transfers).hasValue(IoQueue.MOST_RETRIES + 1);
    }
}
