// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Sinks;

/**
 * Cancelling before, during and after a transfer: nothing is signalled, nothing is freed early (rules 101, 102, 201,
 * 205).
 */
public interface CancelRules extends Rules {

    /** Rule 101: no signal once cancelled. If this fails, check what delivery tests before it signals. */
    @Test
    default void required_101_aTransferCancelledInFlightSignalsNothing(Bench bench) throws IOException {
        Gate gate = bench.gate();
        Witness<Completion> read = Witness.of(
                bench.backend().submit(bench.heldRead(gate, bench.poisoned(4096).all())));
        bench.letOthersRun();
        assertThat(read.terminals()).as("signals before the gate opens").isZero();
        read.cancel();
        read.cancel();
        gate.letReadsEnd(4096);
        bench.letOthersRun();
        assertThat(read.terminals()).as("terminal signals after the cancel").isZero();
        assertThat(read.values()).isEmpty();
    }

    /** Rule 101: a late cancel changes nothing. If this fails, check the state after completion. */
    @Test
    default void required_101_aCancelAfterTheCompletionIsHarmless(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        Witness<Completion> read = Witness.of(bench.backend().submit(Transfer.read(file.all(), buffer.all())));
        assertThat(read.value().bytes()).isEqualTo(4096);
        read.cancel();
        bench.letOthersRun();
        assertThat(read.terminals()).isOne();
        Content.assertHolds(buffer.all(), file.all());
    }

    /** Rule 102: every submit is accounted for, cancelled at any moment. If this fails, check ids and pins (leaks). */
    @Test
    default void required_102_cancelsAtAnyMomentLoseNothingAndAffectNoOtherTransfer(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 1 << 20), FileOption.READ);
        Random random = new Random(102);
        List<Witness<Completion>> kept = new ArrayList<>();
        List<DeviceBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            DeviceBuffer buffer = Bench.get(bench.backend().allocate(16_384));
            Witness<Completion> read =
                    Witness.of(bench.backend().submit(Transfer.read(file.region(i * 2000L, 16_384), buffer.all())));
            if (random.nextBoolean()) {
                kept.add(read);
                buffers.add(bench.keep(buffer));
            } else {
                spin(random.nextInt(2000));
                read.cancel();
                buffer.close();
            }
        }
        for (int i = 0; i < kept.size(); i++) {
            Completion completion = kept.get(i).value();
            Content.assertHolds(buffers.get(i).all(), completion.transfer().fileRegion(0));
            assertThat(kept.get(i).terminals()).isOne();
        }
    }

    /** Delays by a few instructions, so that cancels hit every stage of a transfer. */
    private static void spin(int turns) {
        for (int i = 0; i < turns; i++) {
            Thread.onSpinWait();
        }
    }

    /** Rule 201: memory is not reused while the device may write it. If this fails, check the pin. */
    @Test
    default void required_201_bufferStaysPinnedUntilTheCancelledReadCompletes(Bench bench) throws IOException {
        Gate gate = bench.gate();
        DeviceBuffer buffer = bench.poisoned(4096);
        Witness<Completion> read = Witness.of(bench.backend().submit(bench.heldRead(gate, buffer.all())));
        bench.letOthersRun();
        read.cancel();
        assertNotReused(bench, buffer, gate);
    }

    /** Closes a buffer that a held read may still write, and lets the read end: no other buffer has its memory. */
    private static void assertNotReused(Bench bench, DeviceBuffer buffer, Gate gate) throws IOException {
        long handle = buffer.nativeHandle();
        buffer.close();
        List<DeviceBuffer> others = new ArrayList<>();
        for (int i = 0; i < 64; i++) { // so many that they include memory which was freed too early
            others.add(bench.filled(4096, new Pattern(i), 0));
        }
        assertThat(others)
                .as("memory that the device may still write")
                .noneMatch(other -> other.nativeHandle() == handle);
        gate.letReadsEnd(4096);
        bench.letOthersRun();
        for (int i = 0; i < others.size(); i++) {
            Content.assertHolds(Content.bytes(others.get(i).all()), new Pattern(i), 0, 4096);
        }
    }

    /**
     * Rules 201, 202: closing waits for the device, the transfer does not fail. If this fails, check close and pins.
     */
    @Test
    default void required_202_closingFileAndBufferInFlightLetsTheReadEnd(Bench bench) throws IOException {
        Gate gate = bench.gate();
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer transfer = bench.heldRead(gate, buffer.all());
        Witness<Completion> read = Witness.of(bench.backend().submit(transfer));
        bench.letOthersRun();
        transfer.fileRegion(0).file().close();
        buffer.close();
        bench.letOthersRun();
        assertThat(read.hasEnded()).as("ended before the device has").isFalse();
        gate.letReadsEnd(4096);
        assertThat(read.value().bytes()).isEqualTo(4096);
    }

    /**
     * Rule 205: an abandoned transfer never writes last. If this fails, check what a later transfer that overlaps waits
     * for.
     */
    @Test
    default void required_205_aReadBehindACancelledOneOfTheSameMemoryLandsLast(Bench bench) throws IOException {
        Gate gate = bench.gate();
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(8192);
        Witness<Completion> abandoned =
                Witness.of(bench.backend().submit(bench.heldRead(gate, buffer.region(2048, 4096))));
        bench.letOthersRun();
        abandoned.cancel();
        Witness<Completion> second =
                Witness.of(bench.backend().submit(Transfer.read(file.all(), buffer.region(0, 4096))));
        gate.letReadsEnd(4096);
        assertThat(second.value().bytes()).isEqualTo(4096);
        bench.letOthersRun();
        Content.assertHolds(buffer.region(0, 4096), file.all());
    }

    /** Rule 205: only what overlaps waits. If this fails, check how busy regions are compared. */
    @Test
    default void required_205_aReadBesideACancelledOneDoesNotWait(Bench bench) {
        Gate gate = bench.gate();
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(8192);
        Witness<Completion> abandoned =
                Witness.of(bench.backend().submit(bench.heldRead(gate, buffer.region(0, 4096))));
        bench.letOthersRun();
        abandoned.cancel();
        // The gate stays closed: this returns only if it does not wait.
        bench.move(Transfer.read(file.all(), buffer.region(4096, 4096)));
        Content.assertHolds(buffer.region(4096, 4096), file.all());
    }

    /** Rule 205: the same for the file's bytes. If this fails, check busy regions of files when either side writes. */
    @Test
    default void required_205_aWriteBehindCancelledOnesOfTheSameBytesLandsLast(Bench bench) {
        Path path = bench.file("data", 65_536);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        DeviceBuffer old = bench.filled(65_536, new Pattern(1), 0);
        DeviceBuffer last = bench.filled(65_536, new Pattern(2), 0);
        for (int round = 0; round < 50; round++) {
            Witness<Completion> abandoned = Witness.of(bench.backend().submit(Transfer.write(old.all(), file.all())));
            spin(round * 50);
            abandoned.cancel();
            bench.move(Transfer.write(last.region(100, 60_000), file.region(100, 60_000)));
            Content.assertHolds(path, new Pattern(2), 100, 60_000);
        }
        bench.letOthersRun();
        Content.assertHolds(path, new Pattern(2), 100, 60_000);
    }

    /** Rule 201: a Reactor timeout is a cancel. If this fails, check what a cancel in flight does. */
    @Test
    default void required_201_reactorsTimeoutSignalsAtOnceAndFreesNothingEarly(Bench bench) throws IOException {
        Gate gate = bench.gate();
        DeviceBuffer buffer = bench.poisoned(4096);
        Sinks.Empty<Void> time = Sinks.empty(); // time is driven by hand
        Witness<Completion> read = Witness.of(
                bench.backend().submit(bench.heldRead(gate, buffer.all())).timeout(time.asMono()));
        bench.letOthersRun();
        assertThat(read.hasEnded()).isFalse();
        time.tryEmitEmpty().orThrow();
        assertThat(read.error()).isInstanceOf(TimeoutException.class);
        assertNotReused(bench, buffer, gate);
    }

    /** Rule 104: no value without demand. If this fails, check what a Mono does between subscribe and request. */
    @Test
    default void required_104_aCompletionWaitsForDemand(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        Transfer transfer = Transfer.read(file.all(), bench.poisoned(4096).all());
        Witness<Completion> read = Witness.of(bench.backend().submit(transfer), 0);
        bench.letOthersRun();
        assertThat(read.values()).as("values without demand").isEmpty();
        read.request(1);
        assertThat(read.value().bytes()).isEqualTo(4096);
    }
}
