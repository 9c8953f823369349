// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static io.penstock.Backend.StagingState.COPYING;
import static io.penstock.Backend.StagingState.DRAINING;
import static io.penstock.Backend.StagingState.FENCED;
import static io.penstock.Backend.StagingState.FILLING;
import static io.penstock.Backend.StagingState.FREE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.ThreadRule;
import io.penstock.tck.Bench;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StagedQueueTest {

    private static final int STAGING = Stage.STAGING;

    private final FakeFile file = new FakeFile(10 * STAGING, 1, 3);
    private final FakeDevice.Memory memory = new FakeDevice.Memory(10 * STAGING);

    private static byte[] part(byte[] bytes, int from, int count) {
        return Arrays.copyOfRange(bytes, from, from + count);
    }

    @ParameterizedTest
    @EnumSource
    void aReadMovesBytesFromTheFileThroughAStagingBufferToTheDevice(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        stage.read(0, file, 100, memory, 7, STAGING);
        assertThat(stage.device.started).as("before the turn").isZero();

        assertThat(stage.result(0)).isEqualTo(STAGING);
        assertThat(part(memory.bytes, 7, STAGING)).isEqualTo(part(file.bytes, 100, STAGING));
        assertThat(memory.bytes[6]).as("the byte before").isZero();
        assertThat(memory.bytes[7 + STAGING]).as("the byte behind").isZero();
        assertThat(stage.host.callsByBuffers)
                .as("read as its staging buffer knows")
                .isEqualTo(stage.host.calls);
        stage.close();
    }

    /** Such copies of the processor are slow: tools/benchmarks/experiments/aligned.c. */
    @Test
    void noReadLiesAFewBytesFurtherWithinItsPageThanInTheFile() {
        FakeFile pages = new FakeFile(STAGING + 2 * 4096, 1, 3);
        Stage stage = new Stage(ThreadRule.MANY, 1, 4, 1);
        for (int at = 0; at <= 4096; at++) {
            stage.read(0, pages, at, memory, 3, STAGING);
            assertThat(stage.result(0)).isEqualTo(STAGING);
            assertThat(part(memory.bytes, 3, STAGING)).as("read from %d", at).isEqualTo(part(pages.bytes, at, STAGING));
            long further = (stage.device.startedAt - at) & 4095;
            assertThat(further).as("from %d", at).matches(bytes -> bytes == 0 || bytes > 16);
            assertThat(stage.device.startedAt % 16).as("texels of 16 bytes").isZero();
        }
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void aWriteMovesBytesFromTheDeviceThroughAStagingBufferToTheFile(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        Arrays.fill(memory.bytes, (byte) 9);
        byte before = file.bytes[99];
        stage.write(0, memory, 7, file, 100, STAGING);

        assertThat(stage.result(0)).isEqualTo(STAGING);
        assertThat(part(file.bytes, 100, STAGING)).containsOnly(9);
        assertThat(file.bytes[99]).isEqualTo(before);
        assertThat(stage.host.callsByBuffers)
                .as("written as its staging buffer knows")
                .isEqualTo(stage.host.calls);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void readPastTheEndOfTheFileIsShort(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        stage.read(0, file, 10 * STAGING - 5, memory, 0, 100);
        stage.read(1, file, 10 * STAGING, memory, 200, 100);

        assertThat(stage.result(0)).isEqualTo(5);
        assertThat(stage.result(1)).isZero();
        assertThat(part(memory.bytes, 0, 5)).isEqualTo(part(file.bytes, 10 * STAGING - 5, 5));
        assertThat(part(memory.bytes, 5, 300)).containsOnly(0);
        assertThat(stage.device.started).as("nothing to copy for the second").isEqualTo(1);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void requestsWaitForStagingBuffersAndNoneIsUsedTwice(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 10, 1);
        stage.device.held = true;
        for (int id = 0; id < 10; id++) {
            stage.read(id, file, (long) id * STAGING, memory, (long) id * STAGING, STAGING);
        }
        for (int i = 0; i < 50; i++) {
            stage.turn();
            stage.work();
        }
        assertThat(stage.queue.stagingStates().size()).isEqualTo(2);
        assertThat(stage.device.running()).as("copies in flight").isEqualTo(2);
        assertThat(stage.requests.ended())
                .as("nothing ended while the device copies")
                .isZero();

        stage.device.held = false;
        for (int id = 0; id < 10; id++) {
            assertThat(stage.result(id)).isEqualTo(STAGING);
        }
        assertThat(memory.bytes).isEqualTo(file.bytes);
        stage.close();
    }

    @Test
    void theStateOfAStagingBufferFollowsItsRequest() {
        Stage stage = new Stage(ThreadRule.ONE, 1, 4, 1);
        stage.device.held = true;
        stage.read(0, file, 0, memory, 0, STAGING);
        stage.turn();
        assertThat(stage.queue.stagingStates()).as("only reserved").containsOnly(FREE);
        stage.host.atCall = () -> assertThat(stage.queue.stagingStates()).containsOnlyOnce(FILLING);
        stage.fill();
        assertThat(stage.host.calls).isPositive();
        assertThat(stage.queue.stagingStates())
                .as("the executor has yet to start the copy")
                .containsExactlyInAnyOrder(COPYING, FREE);
        stage.work();
        assertThat(stage.queue.stagingStates()).containsExactlyInAnyOrder(FENCED, FREE);

        stage.device.held = false;
        assertThat(stage.result(0)).isEqualTo(STAGING);
        assertThat(stage.queue.stagingStates()).containsOnly(FREE);

        stage.host.atCall = () -> assertThat(stage.queue.stagingStates()).containsOnlyOnce(DRAINING);
        stage.write(1, memory, 0, file, 0, STAGING);
        assertThat(stage.result(1)).isEqualTo(STAGING);
        assertThat(stage.queue.stagingStates()).containsOnly(FREE);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void oneStagingBufferIsFilledWhileTheOtherIsCopied(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        stage.device.held = true;
        stage.read(0, file, 0, memory, 0, STAGING);
        stage.read(1, file, STAGING, memory, STAGING, STAGING);
        stage.turn();
        stage.workers.get(0).turn(false);
        stage.work();
        assertThat(stage.device.running()).as("copies in flight").isGreaterThanOrEqualTo(1);
        stage.work();
        assertThat(stage.device.running()).isEqualTo(2);

        stage.device.held = false;
        assertThat(stage.result(0)).isEqualTo(STAGING);
        assertThat(stage.result(1)).isEqualTo(STAGING);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void syncIsTheWorkersAndNeedsNoStagingBuffer(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        stage.queue.enqueue(stage.requests.next(2).sync(file));
        stage.turn();
        stage.fill();
        stage.turn();
        assertThat(stage.requests.result(2)).isZero();
        assertThat(file.syncs).isEqualTo(1);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void copiesGoBetweenABounceStagingBufferAndTheDevice(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        DeviceMemory bounce = stage.device.allocateStagingBuffer(4096);
        Arrays.fill(memory.bytes, 50, 60, (byte) 5);
        stage.queue.enqueue(stage.requests
                .next(0)
                .copy(Request.Kind.COPY_OUT, bounce, 100, 10)
                .memory(memory, 50));
        assertThat(stage.result(0)).isEqualTo(10);
        stage.queue.enqueue(stage.requests
                .next(1)
                .copy(Request.Kind.COPY_IN, bounce, 100, 10)
                .memory(memory, 200));
        assertThat(stage.result(1)).isEqualTo(10);
        assertThat(part(memory.bytes, 200, 10)).containsOnly(5);
        bounce.free();
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void memoryThatTheProcessorReachesNeedsNoDeviceCall(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        DeviceMemory reachable = stage.host.allocate(STAGING);
        stage.read(0, file, 3, reachable, 5, 1000);
        assertThat(stage.result(0)).isEqualTo(1000);
        int at = stage.host.index(reachable.hostAddress());
        assertThat(part(stage.host.space, at + 5, 1000)).isEqualTo(part(file.bytes, 3, 1000));

        DeviceMemory bounce = stage.device.allocateStagingBuffer(4096);
        stage.queue.enqueue(stage.requests
                .next(1)
                .copy(Request.Kind.COPY_OUT, bounce, 0, 100)
                .memory(reachable, 5));
        assertThat(stage.result(1)).isEqualTo(100);
        stage.write(2, bounce, 0, file, 50_000, 100);
        assertThat(stage.result(2)).isEqualTo(100);
        assertThat(part(file.bytes, 50_000, 100)).isEqualTo(part(file.bytes, 3, 100));

        assertThat(stage.device.started).as("device calls").isZero();
        bounce.free();
        reachable.free();
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void failuresOfTheHostAndOfTheDeviceAreDistinguished(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        stage.host.failures = 1;
        stage.read(0, file, 0, memory, 0, 100);
        NativeFailure ofHost = stage.failure(0);
        assertThat(ofHost.error().toString()).isEqualTo("pread -> EIO (5)");
        assertThat(ofHost.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);

        stage.device.refusals = 1;
        stage.read(1, file, 0, memory, 0, 100);
        NativeFailure ofDevice = stage.failure(1);
        assertThat(ofDevice.error().code()).isEqualTo(FakeDevice.REFUSED.error().code());
        assertThat(ofDevice.kind()).isEqualTo(NativeFailure.Kind.TRANSIENT);

        stage.read(2, file, 0, memory, 0, 100);
        assertThat(stage.result(2)).as("the next is served").isEqualTo(100);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void deviceThatThrowsIsLost(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        stage.device.throwsAtPoll = true;
        stage.device.held = true;
        stage.read(0, file, 0, memory, 0, 100);
        NativeFailure failure = stage.failure(0);
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.LOST);
        assertThat(failure.error().symbol()).contains("UnsupportedOperationException: poll");
    }

    @ParameterizedTest
    @EnumSource
    void onceTheDeviceIsLostEveryCommandFails(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 8, 1);
        stage.device.lostAfter = 1;
        for (int id = 0; id < 8; id++) {
            stage.read(id, file, 0, memory, 0, STAGING);
        }
        for (int id = 1; id < 8; id++) {
            assertThat(stage.failure(id).kind()).isEqualTo(NativeFailure.Kind.LOST);
        }
        assertThat(stage.requests.ended()).isEqualTo(8);
        int calls = stage.host.calls;
        stage.read(0, file, 0, memory, 0, STAGING);
        assertThat(stage.failure(0).kind()).isEqualTo(NativeFailure.Kind.LOST);
        assertThat(stage.host.calls).as("no host I/O for a lost device").isEqualTo(calls);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void aCopyJoinsItsTransfersPointAndIsThenStreamOrdered(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        stage.device.held = true;
        FencePoint point = new FencePoint() {
            @Override
            public void place(Runnable placed) {}

            @Override
            public long nativeHandle() {
                return 0;
            }

            @Override
            public void free() {}
        };
        AtomicInteger inOrder = new AtomicInteger();
        stage.queue.enqueue(stage.requests
                .next(0)
                .file(Request.Kind.READ, file, 0, STAGING)
                .memory(memory, 0)
                .joins(point, () -> {
                    assertThat(stage.device.joined).as("joined before").contains(point);
                    inOrder.incrementAndGet();
                }));
        stage.turn();
        assertThat(inOrder).as("before the copy").hasValue(0);
        stage.fill();
        stage.work();
        stage.work();
        assertThat(inOrder).as("once the copy has started").hasValue(1);
        assertThat(stage.requests.ended()).as("the copy runs").isZero();

        stage.device.held = false;
        assertThat(stage.result(0)).isEqualTo(STAGING);
        assertThat(inOrder).hasValue(1);
        stage.read(0, file, 0, memory, 0, STAGING);
        assertThat(stage.result(0)).isEqualTo(STAGING);
        assertThat(stage.result(0)).isEqualTo(STAGING);
        assertThat(stage.device.joined).as("the next has no point").hasSize(1);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void closeIsRefusedWhileACommandIsInFlight(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 8, 1);
        stage.read(0, file, 0, memory, 0, STAGING);
        assertThatThrownBy(stage.queue::close).isInstanceOf(IllegalStateException.class);
        assertThat(stage.result(0)).isEqualTo(STAGING);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsPlacedInAStagingBufferThatIsTooSmall(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        assertThatThrownBy(() -> stage.read(0, file, 0, memory, 0, STAGING + 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    /** Memory that the processor reaches has no such bound. */
    @ParameterizedTest
    @EnumSource
    void segmentsWithoutAStagingBufferMayBeLonger(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 4, 1);
        DeviceMemory reachable = stage.host.allocate(2 * STAGING);
        stage.read(0, file, 0, reachable, 0, 2 * STAGING);
        assertThat(stage.result(0)).isEqualTo(2 * STAGING);
        reachable.free();
        stage.close();
    }

    private static long threads(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .count();
    }

    @Test
    void requestsThatWaitForAWorkerOccupyNoStagingBuffer() {
        Stage stage = new Stage(ThreadRule.MANY, 3, 16, 1);
        stage.device.prompt = true;
        FakeFile file = new FakeFile(6 * Stage.STAGING, 1, 1);
        FakeDevice.Memory memory = new FakeDevice.Memory(6 * Stage.STAGING);
        for (int i = 0; i < 6; i++) {
            stage.read(i, file, (long) i * Stage.STAGING, memory, (long) i * Stage.STAGING, Stage.STAGING);
        }
        stage.turn();
        while (stage.workers.get(0).turn(false)) {
            // the only one that has a processor
        }
        stage.turn();
        assertThat(stage.requests.ended()).isEqualTo(6);
        assertThat(stage.device.copiedFrom)
                .as("staging buffers used, of the 6 that three workers would use: those in the processor's caches")
                .hasSizeLessThanOrEqualTo(2);
        stage.close();
    }

    @Test
    void aQueueThatCannotBeOpenedLeavesNoThreadBehind() {
        FakeHost host = new FakeHost(1 << 20, 1);
        FakeDevice full = new FakeDevice(ThreadRule.ONE, host, 1);
        full.full = true;
        assertThatThrownBy(() -> StagedQueue.open(full, host, StagingSettings.of(STAGING, 2, 4), null))
                .hasMessage("no pinned memory");
        long deadline = System.nanoTime() + Bench.PATIENCE.toNanos();
        while (threads("penstock-executor") + threads("penstock-staging") > 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(threads("penstock-executor")).isZero();
        assertThat(threads("penstock-staging")).isZero();
    }
}
