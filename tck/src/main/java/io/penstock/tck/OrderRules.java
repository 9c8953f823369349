// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Ordering: equal keys, writes before a sync, and a deadline's place among them (rules 205, 403). */
public interface OrderRules extends Rules {

    /** Equal keys keep the order of subscription. If this fails, check the queue per key. */
    @Test
    default void required_order_transfersWithOneKeyRunInTheOrderOfSubscription(Bench bench) {
        Path path = bench.file("data", 32_768);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        List<Witness<Completion>> writes = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            DeviceBuffer buffer = bench.filled(32_768, new Pattern(i), 0);
            Transfer write = Transfer.write(buffer.all(), file.all()).ordered("log");
            writes.add(Witness.of(bench.backend().submit(write)));
        }
        long ended = Long.MIN_VALUE;
        for (Witness<Completion> write : writes) {
            Completion completion = write.value();
            if (ended != Long.MIN_VALUE) {
                assertThat(completion.startedNanos() - ended)
                        .as("started behind the one before")
                        .isNotNegative();
            }
            ended = completion.endedNanos();
        }
        Content.assertHolds(path, new Pattern(99), 0, 32_768);
    }

    /** Equal keys wait, other keys and no keys do not. If this fails, check what is compared. */
    @Test
    default void required_order_onlyEqualKeysWait(Bench bench) throws IOException {
        Gate gate = bench.gate();
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(16_384);
        Witness<Completion> held = Witness.of(bench.backend()
                .submit(bench.heldRead(gate, buffer.region(0, 4096)).ordered("a")));
        Witness<Completion> waiting = Witness.of(bench.backend()
                .submit(Transfer.read(file.all(), buffer.region(4096, 4096)).ordered("a")));
        bench.move(Transfer.read(file.all(), buffer.region(8192, 4096)).ordered("b"));
        bench.move(Transfer.read(file.all(), buffer.region(12_288, 4096)));
        bench.letOthersRun();
        assertThat(waiting.hasEnded())
                .as("the second of key a, before the first has ended")
                .isFalse();
        Content.assertPoison(buffer.region(4096, 4096));

        gate.letReadsEnd(4096);
        assertThat(held.value().bytes()).isEqualTo(4096);
        assertThat(waiting.value().bytes()).isEqualTo(4096);
    }

    /** A cancelled or failed transfer does not hold up its key. If this fails, check what removes it from the queue. */
    @Test
    default void required_order_aKeyIsPassedOnByCancelledAndFailedTransfers(Bench bench) throws IOException {
        Gate gate = bench.gate();
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(12_288);
        Witness<Completion> held = Witness.of(bench.backend()
                .submit(bench.heldRead(gate, buffer.region(0, 4096)).ordered("a")));
        Witness<Completion> cancelled = Witness.of(bench.backend()
                .submit(Transfer.read(file.all(), buffer.region(4096, 4096)).ordered("a")));
        Witness<Completion> failed =
                Witness.of(bench.backend().submit(bench.failingWrite().ordered("a")));
        Witness<Completion> last = Witness.of(bench.backend()
                .submit(Transfer.read(file.all(), buffer.region(8192, 4096)).ordered("a")));
        cancelled.cancel();
        gate.letReadsEnd(4096);
        held.awaitEnd();
        assertThat(failed.error()).isInstanceOf(PenstockException.class);
        assertThat(last.value().bytes()).isEqualTo(4096);
        assertThat(cancelled.terminals()).isZero();
        Content.assertPoison(buffer.region(4096, 4096));
    }

    /** Sync is a barrier. If this fails, check what counts writes, on all I/O queues, merged edges included. */
    @Test
    default void required_order_syncCompletesAfterEveryWriteAcceptedBeforeIt(Bench bench) {
        Path path = bench.path("out");
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE, FileOption.CREATE);
        DeviceBuffer buffer = bench.filled(1 << 20, WriteRules.WRITTEN, 0);
        for (int round = 0; round < 5; round++) {
            Bench.run(file.truncate(0));
            List<Witness<Completion>> writes = new ArrayList<>();
            for (long at = 0; at < 1 << 20; at += 8000) {
                long length = Math.min(8000, (1 << 20) - at);
                writes.add(Witness.of(
                        bench.backend().submit(Transfer.write(buffer.region(at, length), file.region(at, length)))));
            }
            Bench.run(file.sync());
            // The test has waited only for the sync, not for the writes.
            Content.assertHolds(path, WriteRules.WRITTEN, 0, 1 << 20);
            writes.forEach(Witness::value);
        }
    }

    /** Sync waits for a write in flight, and reports the system's result. If this fails, check the barrier. */
    @Test
    default void required_order_syncWaitsForAWriteInFlight(Bench bench) throws IOException {
        Gate gate = bench.gate();
        gate.holdWrites();
        StorageFile file = bench.openGate(gate, FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(4096, WriteRules.WRITTEN, 0);
        Witness<Completion> write =
                Witness.of(bench.backend().submit(Transfer.write(buffer.all(), file.region(0, 4096))));
        bench.letOthersRun();
        Witness<Void> sync = Witness.of(file.sync());
        bench.letOthersRun();
        assertThat(write.hasEnded()).as("the write, before the gate opens").isFalse();
        assertThat(sync.hasEnded()).as("the sync, before the write has ended").isFalse();
        gate.letWritesEnd(4096);
        assertThat(write.value().bytes()).isEqualTo(4096);
        sync.awaitEnd(); // a pipe cannot be synced, another gate may be: both terminate
    }

    /** Rule 403: a failed sync stays failed. If this fails, check that the first failure is stored. */
    @Test
    default void required_403_aFailedSyncIsNeverRetriedIntoSuccess(Bench bench) {
        StorageFile full = openFull(bench); // fdatasync of a character device returns EINVAL
        Throwable first = Witness.of(full.sync()).error();
        Throwable second = Witness.of(full.sync()).error();
        assertThat(first).isInstanceOf(PermanentStorageException.class).hasMessageContaining("sync");
        assertThat(((PenstockException) first).nativeError()).isPresent();
        assertThat(second)
                .as("the failure that was remembered, not another one")
                .isSameAs(first);
    }

    private static StorageFile openFull(Bench bench) {
        Witness<StorageFile> opening = Witness.of(bench.backend().openFile(Path.of("/dev/full"), FileOption.WRITE));
        opening.awaitEnd();
        Assumptions.assumeFalse(
                opening.values().isEmpty(), "this subject opens no character device, and no other sync fails at will");
        return bench.keep(opening.value());
    }

    /** A sync can be repeated and costs nothing before subscription. If this fails, check the barrier's count. */
    @Test
    default void required_order_syncOfACleanFileCompletesEachTime(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 100), FileOption.READ, FileOption.WRITE);
        Mono<Void> sync = file.sync();
        for (int i = 0; i < 5; i++) {
            assertThat(Witness.of(sync).all()).isEmpty();
        }
    }

    /**
     * Rule 205: a deadline signals once the device has released the memory. If this fails, check what asks the device
     * to stop.
     */
    @Test
    default void required_205_aDeadlineSignalsOnceTheDeviceHasReleasedTheBuffer(Bench bench) throws IOException {
        Gate gate = bench.gate();
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer held = bench.heldRead(gate, buffer.all());
        Duration limit = Duration.ofMillis(50);
        Witness<Completion> late = Witness.of(bench.backend().submit(held.deadline(limit)));
        // No part of this transfer starts, so its end shows that the other's limit has expired too.
        ManualFence shut = new ManualFence();
        DeviceBuffer untouched = bench.poisoned(4096);
        Transfer waiting = Transfer.read(held.fileRegion(0), untouched.all());
        Witness<Completion> clock =
                Witness.of(bench.backend().submit(waiting.after(shut).deadline(limit)));
        assertThat(clock.error()).isInstanceOf(TransientStorageException.class);
        assertThat(((PenstockException) clock.error()).outcome()).isEqualTo(Outcome.NOT_STARTED);
        gate.letReadsEnd(4096); // a device that cannot stop releases the memory now
        assertThat(late.error()).isInstanceOfAny(TransientStorageException.class, PermanentStorageException.class);
        assertThat(late.terminals()).isOne();
        shut.pass();
        bench.letOthersRun();
        Content.assertPoison(untouched.all());
    }

    /** A deadline that is met has no effect. If this fails, check what an I/O queue keeps of completed transfers. */
    @Test
    default void required_205_aDeadlineThatIsMetChangesNothing(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        Transfer read = Transfer.read(file.all(), bench.poisoned(4096).all());
        List<WeakReference<Transfer>> ended = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            ended.add(moveWithinAnHour(bench, read));
        }
        assertThatThrownBy(() -> read.deadline(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        bench.letOthersRun(); // replaces what I/O queues and threads still reference
        long patience = System.nanoTime() + Bench.patience().toNanos();
        long left = ended.size();
        while (left > ended.size() / 2 && System.nanoTime() < patience) {
            System.gc();
            Thread.onSpinWait();
            left = ended.stream().filter(transfer -> transfer.get() != null).count();
        }
        assertThat(left)
                .as("transfers that ended and are still held in memory, of 50")
                .isLessThanOrEqualTo(25);
    }

    private static WeakReference<Transfer> moveWithinAnHour(Bench bench, Transfer read) {
        Transfer limited = read.deadline(Duration.ofHours(1));
        assertThat(bench.move(limited).bytes()).isEqualTo(4096);
        return new WeakReference<>(limited);
    }
}
