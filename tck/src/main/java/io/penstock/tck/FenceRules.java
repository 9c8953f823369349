// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Fences: points in the device's order, which are always signalled and always accurate (section Order). */
public interface FenceRules extends Rules {

    /** A fence reports when a transfer has ended, its outcome how. If this fails, check what completes the fence. */
    @Test
    default void required_fence_enqueueReturnsAFenceWithTheCompletionAsItsOutcome(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 10_000), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(10_000);
        Transfer read = Transfer.read(file.all(), buffer.all());
        try (DeviceFence fence = Bench.get(bench.backend().enqueue(read))) {
            fence.signalled().block(Bench.patience());
            assertThat(fence.isSignalled()).isTrue();
            Completion completion = Bench.get(fence.outcome());
            assertThat(completion.bytes()).isEqualTo(10_000);
            assertThat(completion.transfer()).isSameAs(read);
            assertThat(Bench.get(fence.outcome()).bytes()).as("asked for again").isEqualTo(10_000);
            boolean hostOnly = bench.backend().capabilities().fences() == FenceSupport.HOST_ONLY;
            assertThat(fence.nativeHandle() == 0).as("no native handle").isEqualTo(hostOnly);
        }
        Content.assertHolds(buffer.all(), file.all());
    }

    /** Publishers are lazy. If this fails, check what {@code enqueue} does before subscription. */
    @Test
    default void required_303_enqueueIsLazy(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        Mono<DeviceFence> fence = bench.backend().enqueue(Transfer.read(file.all(), buffer.all()));
        bench.letOthersRun();
        Content.assertPoison(buffer.all());
        Bench.get(fence.flatMap(passed -> passed.outcome().doFinally(signal -> passed.close())));
        Content.assertHolds(buffer.all(), file.all());
    }

    /** {@code after} holds a transfer back. If this fails, check what waits before submitting. */
    @Test
    default void required_fence_aTransferAfterAFenceStartsWhenItIsSignalled(Bench bench) throws IOException {
        Gate gate = bench.gate();
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(8192);
        Transfer held = bench.heldRead(gate, buffer.region(0, 4096));
        Transfer read = Transfer.read(file.all(), buffer.region(4096, 4096));
        Mono<DeviceFence> fence =
                bench.backend().enqueue(held).doOnNext(bench::keep).cache();
        Witness<Completion> second =
                Witness.of(fence.flatMap(passed -> bench.backend().submit(read.after(passed))));
        // A held transfer is not yet in the device's own order: it has no fence yet, or one that is not signalled.
        if (bench.backend().capabilities().fences() != FenceSupport.AFTER_STAGING) {
            assertThat(Bench.get(fence).isSignalled()).isFalse();
        }
        bench.letOthersRun();
        assertThat(second.hasEnded()).as("ended before its fence was signalled").isFalse();
        Content.assertPoison(buffer.region(4096, 4096));

        gate.letReadsEnd(4096);
        assertThat(second.value().bytes()).isEqualTo(4096);
        DeviceFence first = Bench.get(fence);
        assertThat(first.isSignalled()).isTrue();
        // A transfer that waits on the device itself is submitted earlier, but still ends after the other.
        Completion behind = second.value();
        long after = first.nativeHandle() == 0 ? behind.startedNanos() : behind.endedNanos();
        assertThat(after - Bench.get(first.outcome()).endedNanos()).isNotNegative();
    }

    /** A chain across many fences runs in order. If this fails, check fences that are already signalled. */
    @Test
    default void required_fence_aChainOfFencesRunsInOrder(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 8192), FileOption.READ, FileOption.WRITE);
        List<DeviceFence> fences = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            DeviceBuffer buffer = bench.filled(8192, new Pattern(i), 0);
            Transfer write = Transfer.write(buffer.all(), file.all());
            Transfer next = fences.isEmpty() ? write : write.after(fences.toArray(new DeviceFence[0]));
            fences.add(bench.keep(Bench.get(bench.backend().enqueue(next))));
        }
        Bench.get(fences.get(39).outcome());
        Content.assertHolds(file.path(), new Pattern(39), 0, 8192);
        assertThat(fences).allSatisfy(fence -> assertThat(fence.isSignalled()).isTrue());
    }

    /** A fence is signalled on failure too, and does not hide it. If this fails, check the failure path. */
    @Test
    default void required_fence_aFailureSignalsTheFenceAndIsItsOutcome(Bench bench) {
        Transfer failing = bench.failingWrite();
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        DeviceFence fence = bench.keep(Bench.get(bench.backend().enqueue(failing)));
        assertThat(Witness.of(fence.signalled()).all()).isEmpty();
        assertThat(fence.isSignalled()).isTrue();
        assertThat(Witness.of(fence.outcome()).error()).isInstanceOf(PenstockException.class);
        bench.move(Transfer.read(file.all(), buffer.all()).after(fence));
        Content.assertHolds(buffer.all(), file.all());
    }

    /**
     * Cancelling the subscription to an outcome cancels nothing else. If this fails, check what the outcome subscribes
     * to.
     */
    @Test
    default void required_fence_cancellingTheOutcomeLetsTheTransferGoOn(Bench bench) throws IOException {
        Gate gate = bench.gate();
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer held = bench.heldRead(gate, buffer.all());
        Mono<DeviceFence> fence =
                bench.backend().enqueue(held).doOnNext(bench::keep).cache(); // subscribed to once
        Witness<Completion> cancelled = Witness.of(fence.flatMap(DeviceFence::outcome));
        Witness<Completion> kept = Witness.of(fence.flatMap(DeviceFence::outcome));
        Witness<Void> alsoCancelled = Witness.of(fence.flatMap(DeviceFence::signalled));
        cancelled.cancel();
        alsoCancelled.cancel();
        gate.letReadsEnd(4096);
        assertThat(kept.value().bytes()).isEqualTo(4096);
        Content.assertHolds(buffer.all(), held.fileRegion(0));
        bench.letOthersRun();
        assertThat(cancelled.terminals()).as("signals of the outcome").isZero();
        assertThat(alsoCancelled.terminals()).as("signals of the fence").isZero();
    }

    /** A fence may be closed early and twice. If this fails, check where and when the native object is freed. */
    @Test
    default void required_fence_closingEarlyDoesNotStopTheTransfer(Bench bench) throws IOException {
        Gate gate = bench.gate();
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer held = bench.heldRead(gate, buffer.all());
        Witness<Completion> outcome = Witness.of(bench.backend().enqueue(held).flatMap(fence -> {
            Mono<Completion> end = fence.outcome();
            fence.close();
            fence.close();
            return end;
        }));
        bench.letOthersRun();
        gate.letReadsEnd(4096);
        assertThat(outcome.value().bytes()).isEqualTo(4096);
        Content.assertHolds(buffer.all(), held.fileRegion(0));
    }

    /** A device without native fences refuses them. If this fails, check {@code fence}'s argument. */
    @Test
    default void required_fence_aHostOnlyDeviceRefusesNativeEvents(Bench bench) {
        Assumptions.assumeTrue(
                bench.backend().capabilities().fences() == FenceSupport.HOST_ONLY, "this device has native fences");
        assertThatThrownBy(() -> bench.backend().fence(0x1000)).isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * An enqueue that is cancelled leaves no fence open. If this fails, check what happens to a fence created too late.
     */
    @Test
    default void required_fence_aCancelledEnqueueLeavesNothingOpen(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        for (int i = 0; i < 100; i++) {
            Witness<DeviceFence> enqueue = Witness.of(bench.backend().enqueue(Transfer.read(file.all(), buffer.all())));
            enqueue.cancel();
            bench.keep(() -> enqueue.values().forEach(DeviceFence::close));
        }
    }
}
