// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.backend.opencl.cl.Info;
import io.penstock.backend.opencl.context.ClPoint;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.StepVerifier;

/** Transfers in the device's own order: what they wait for is an event wait list, and their event is a fence. */
@ExtendWith(FreshSsg.class)
class SsgOrderTest {

    private static final int BYTES = 64 << 10;
    private static final byte[] CONTENT = BackendFixture.random(BYTES, 1);

    private SsgFixture ssg;
    private StorageFile file;
    private DeviceBuffer buffer;
    private long event;
    private DeviceFence fence;

    @BeforeEach
    void open() throws IOException {
        open(SsgFixture.open(SsgFixture.OPTIONS));
    }

    private void open(SsgFixture fixture) throws IOException {
        ssg = fixture;
        file = ssg.file("order", CONTENT);
        buffer = ssg.buffer(BYTES);
        event = ssg.userEvent();
        fence = ssg.backend().fence(event);
    }

    private void reopen(Options options) throws IOException {
        close(); // waits until nothing is left
        open(SsgFixture.open(options));
    }

    @AfterEach
    void close() {
        ssg.control.release(SsgFixture.READ);
        OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE); // does nothing where the test has
        fence.close();
        OpenCl.clReleaseEvent(event);
        ssg.close();
    }

    private Transfer read() {
        return Transfer.read(file.all(), buffer.all());
    }

    private CompletableFuture<Completion> submit(Transfer transfer) {
        return ssg.backend().submit(transfer).toFuture().orTimeout(20, TimeUnit.SECONDS);
    }

    /** What was submitted before has come to the I/O queue when another transfer has come and gone. */
    private void letOthersRun() {
        DeviceBuffer other = ssg.buffer(512);
        for (int i = 0; i < 3; i++) {
            ssg.run(Transfer.read(file.region(0, 512), other.all()));
        }
    }

    private void assertArrived(CompletableFuture<Completion> reading) {
        assertThat(reading.join().bytes()).isEqualTo(BYTES);
        assertThat(BackendFixture.content(buffer)).isEqualTo(CONTENT);
    }

    @Test
    void aTransferWaitsOnTheDeviceForAnEventOfTheApplications() {
        CompletableFuture<Completion> reading = submit(read().after(fence));
        assertThat(ssg.control.awaitCalls(SsgFixture.READ, 1)).as("submitted").isEqualTo(1);
        letOthersRun();
        assertThat(reading).as("before the event").isNotDone();
        OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
        assertArrived(reading);
    }

    @Test
    void aSignalledFenceIsNotWaitedFor() {
        OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
        assertArrived(submit(read().after(fence)));
    }

    @Test
    void anEventThatFailsIsSignalledTooAndTheTransferContinues() {
        CompletableFuture<Completion> reading = submit(read().after(fence));
        assertThat(ssg.control.awaitCalls(SsgFixture.READ, 1)).isEqualTo(1);
        OpenCl.clSetUserEventStatus(event, -7);
        assertArrived(reading);
        assertThat(ssg.control.calls(SsgFixture.READ))
                .as("once with the list, once without")
                .isEqualTo(2);
        StepVerifier.create(fence.outcome())
                .expectErrorSatisfies(e -> assertThat(e).hasMessageContaining("-7"))
                .verify(SsgFixture.LONG);
    }

    /**
     * Its place in that queue would be lost if a fence failed that its command waits for: work that the application
     * submits behind it would run first.
     */
    @Test
    void aTransferOnAQueueOfTheApplicationsIsSubmittedWhenItsFencesAreSignalled() {
        int[] error = new int[1];
        long queue = OpenCl.clCreateCommandQueue(
                ssg.context.handle(), ssg.context.device().handle(), 0, error);
        assertThat(error[0]).isZero();
        try {
            Transfer ordered = read().after(fence).on(OpenClQueue.of(queue));
            CompletableFuture<DeviceFence> enqueued =
                    ssg.backend().enqueue(ordered).toFuture().orTimeout(20, TimeUnit.SECONDS);
            long before = ssg.control.calls(SsgFixture.READ);
            letOthersRun();
            assertThat(ssg.control.calls(SsgFixture.READ)).isEqualTo(before + 3);
            assertThat(enqueued).as("it has no place in the queue yet").isNotDone();
            OpenCl.clSetUserEventStatus(event, -7);
            try (DeviceFence behind = enqueued.join()) {
                OpenCl.clFinish(queue); // as work behind it would
                assertThat(BackendFixture.content(buffer)).isEqualTo(CONTENT);
                behind.signalled().block(SsgFixture.LONG);
            }
        } finally {
            OpenCl.clReleaseCommandQueue(queue);
        }
    }

    @Test
    void aWriteContinuesAfterItsFenceHasFailed() throws IOException {
        StorageFile to = ssg.file(SsgFixture.write("written", new byte[BYTES]), FileOption.READ, FileOption.WRITE);
        DeviceBuffer from = ssg.filled(CONTENT);
        CompletableFuture<Completion> writing =
                submit(Transfer.write(from.all(), to.all()).after(fence));
        assertThat(ssg.control.awaitCalls(SsgFixture.WRITE, 1)).isEqualTo(1);
        OpenCl.clSetUserEventStatus(event, -7);
        assertThat(writing.join().bytes()).isEqualTo(BYTES);
        assertThat(Files.readAllBytes(to.path())).isEqualTo(CONTENT);
    }

    @Test
    void withInOrderQueuesTheIoQueueWaitsSoThatNothingIsQueuedBehind() throws IOException {
        reopen(SsgFixture.OPTIONS.with(OpenClOptions.SSG_QUEUES, 1));
        CompletableFuture<Completion> reading = submit(read().after(fence));
        long before = ssg.control.calls(SsgFixture.READ);
        letOthersRun();
        assertThat(ssg.control.calls(SsgFixture.READ)).isEqualTo(before + 3);
        assertThat(reading).isNotDone();
        OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
        assertArrived(reading);
    }

    @Test
    void commandsThatNeedAStagingBufferWaitOnTheQueue() {
        Transfer unaligned =
                Transfer.read(file.region(0, 1000), buffer.region(0, 1000)).after(fence);
        CompletableFuture<Completion> reading = submit(unaligned);
        long before = ssg.control.calls(SsgFixture.READ);
        letOthersRun();
        assertThat(ssg.control.calls(SsgFixture.READ)).isEqualTo(before + 3);
        OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
        assertThat(reading.join().bytes()).isEqualTo(1000);
    }

    @Test
    void aDeadlineEndsAWait() {
        StepVerifier.create(ssg.backend().submit(read().after(fence).deadline(Duration.ofMillis(50))))
                .expectError(TransientStorageException.class)
                .verify(SsgFixture.LONG);
        assertThat(ssg.control.calls(SsgFixture.READ)).isZero();
    }

    @Test
    void noMoreThanHalfOfAQueueWaitsOnTheDevice() throws IOException {
        reopen(SsgFixture.OPTIONS.with(CommonOptions.QUEUE_DEPTH, 8));
        DeviceBuffer many = ssg.buffer(8 * 512);
        CompletableFuture<?>[] reading = new CompletableFuture<?>[8];
        for (int i = 0; i < reading.length; i++) {
            Transfer block = Transfer.read(file.region(512L * i, 512), many.region(512L * i, 512));
            reading[i] = submit(block.after(fence));
        }
        assertThat(ssg.control.awaitCalls(SsgFixture.READ, 4)).isGreaterThanOrEqualTo(4);
        letOthersRun(); // would hang if the I/O queue were full
        OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
        CompletableFuture.allOf(reading).join();
    }

    @Test
    void anEventOfAnotherContextIsWaitedForByTheQueue() throws IOException {
        int[] error = new int[1];
        long other =
                OpenCl.clCreateContext(null, 1, new long[] {ssg.context.device().handle()}, 0, 0, error);
        assertThat(error[0]).isZero();
        long foreign = OpenCl.clCreateUserEvent(other, error);
        try (DeviceFence elsewhere = ssg.backend().fence(foreign)) {
            CompletableFuture<Completion> reading = submit(read().after(elsewhere));
            letOthersRun();
            assertThat(reading).isNotDone();
            OpenCl.clSetUserEventStatus(foreign, OpenCl.CL_COMPLETE);
            assertArrived(reading);
        } finally {
            OpenCl.clReleaseEvent(foreign);
            OpenCl.clReleaseContext(other);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {BYTES, 4 * BYTES})
    void theEventOfATransferIsItsFence(int bytes) throws IOException {
        ssg.control.hold(SsgFixture.READ);
        DeviceBuffer target = ssg.buffer(bytes);
        Transfer read = Transfer.read(ssg.file("fence", new byte[bytes]).all(), target.all());
        try (DeviceFence behind =
                Objects.requireNonNull(ssg.backend().enqueue(read).block(SsgFixture.LONG))) {
            assertThat(behind.isSignalled()).as("while the disk reads").isFalse();
            assertThat(status(behind.nativeHandle())).isGreaterThan(OpenCl.CL_COMPLETE);
            ssg.control.release(SsgFixture.READ);
            behind.signalled().block(SsgFixture.LONG);
            // A marker of the driver's comes to know a moment after its commands have ended.
            assertThat(waitFor(behind.nativeHandle())).isZero();
            assertThat(status(behind.nativeHandle())).isEqualTo(OpenCl.CL_COMPLETE);
        }
    }

    @Test
    void aTransferBehindTheFenceOfAnotherIsSubmittedBeforeThatHasEnded() {
        ssg.control.hold(SsgFixture.READ);
        try (DeviceFence first =
                Objects.requireNonNull(ssg.backend().enqueue(read()).block(SsgFixture.LONG))) {
            CompletableFuture<Completion> second = submit(read().after(first));
            assertThat(ssg.control.awaitCalls(SsgFixture.READ, 2)).isEqualTo(2);
            assertThat(ssg.control.awaitHeld(SsgFixture.READ, 1))
                    .as("the second has not begun")
                    .isEqualTo(1);
            assertThat(second).isNotDone();
            ssg.control.release(SsgFixture.READ);
            assertArrived(second);
            Completion before = Objects.requireNonNull(first.outcome().block(SsgFixture.LONG));
            assertThat(second.join().endedNanos()).isGreaterThanOrEqualTo(before.endedNanos());
        }
    }

    @Test
    void aFailureOfTheFirstDoesNotStopTheSecond() {
        ssg.control.hold(SsgFixture.READ);
        ssg.control.fail("late:" + SsgFixture.READ, 1, OpenClError.INVALID_OPERATION);
        try (DeviceFence first =
                Objects.requireNonNull(ssg.backend().enqueue(read()).block(SsgFixture.LONG))) {
            CompletableFuture<Completion> second = submit(read().after(first));
            assertThat(ssg.control.awaitCalls(SsgFixture.READ, 2)).isEqualTo(2);
            ssg.control.release(SsgFixture.READ);
            assertArrived(second);
            StepVerifier.create(first.outcome())
                    .expectErrorSatisfies(e -> assertThat(e).hasMessageContaining("CL_INVALID_OPERATION"))
                    .verify(SsgFixture.LONG);
        }
    }

    /** An application that waits for it would see a failure that is none. */
    @ParameterizedTest
    @ValueSource(ints = {BYTES, 4 * BYTES})
    void theEventOfATransferWhoseFenceFailsDoesNotFail(int bytes) throws IOException {
        byte[] content = BackendFixture.random(bytes, 2);
        DeviceBuffer target = ssg.buffer(bytes);
        Transfer read = Transfer.read(ssg.file("chained", content).all(), target.all());
        try (DeviceFence behind =
                Objects.requireNonNull(ssg.backend().enqueue(read.after(fence)).block(SsgFixture.LONG))) {
            assertThat(status(behind.nativeHandle())).isGreaterThan(OpenCl.CL_COMPLETE);
            OpenCl.clSetUserEventStatus(event, -7);
            assertThat(waitFor(behind.nativeHandle())).isZero();
            assertThat(status(behind.nativeHandle())).isEqualTo(OpenCl.CL_COMPLETE);
            assertThat(BackendFixture.content(target)).isEqualTo(content);
        }
    }

    @Test
    void theEventOfATransferThatFailsBehindAFenceFails() {
        ssg.control.fail("late:" + SsgFixture.READ, 1, OpenClError.INVALID_OPERATION);
        try (DeviceFence behind = Objects.requireNonNull(
                ssg.backend().enqueue(read().after(fence)).block(SsgFixture.LONG))) {
            OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
            assertThat(waitFor(behind.nativeHandle())).isNegative();
            assertThat(status(behind.nativeHandle())).isEqualTo(OpenClError.INVALID_OPERATION);
        }
    }

    private static int waitFor(long event) {
        ByteBuffer list = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
        list.putLong(0, event);
        try {
            return OpenCl.clWaitForEvents(1, NativeMemory.address(list));
        } finally {
            Reference.reachabilityFence(list);
        }
    }

    @Test
    void aTransferBehindOneWhoseFenceFailsEndsAfterIt() {
        try (DeviceFence first = Objects.requireNonNull(
                ssg.backend().enqueue(read().after(fence)).block(SsgFixture.LONG))) {
            CompletableFuture<Completion> second = submit(read().after(first));
            assertThat(ssg.control.awaitCalls(SsgFixture.READ, 2)).isEqualTo(2);
            OpenCl.clSetUserEventStatus(event, -7);
            assertArrived(second);
            Completion before = Objects.requireNonNull(first.outcome().block(SsgFixture.LONG));
            assertThat(second.join().startedNanos()).isLessThan(before.endedNanos());
            assertThat(second.join().endedNanos()).isGreaterThan(before.endedNanos());
        }
    }

    @Test
    void required_201_aCancelledTransferThatWaitsOnTheDeviceKeepsItsBufferUntilItHasEnded() {
        var cancelled = ssg.backend().submit(read().after(fence)).subscribe();
        assertThat(ssg.control.awaitCalls(SsgFixture.READ, 1)).isEqualTo(1);
        cancelled.dispose();
        buffer.close();
        letOthersRun();
        assertThat(ssg.control.awaitLive("operations", 1)).isEqualTo(1);
        OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
        assertThat(ssg.control.awaitLive("operations", 0)).isZero();
    }

    private static int status(long event) {
        Info info = Info.event(event);
        return info.number(OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS);
    }

    @Test
    void aFenceThatCannotBeImportedKeepsNoReference() {
        long before = SsgFake.references(event);
        ssg.control.fail("clGetEventInfo", 1, OpenClError.OUT_OF_HOST_MEMORY);
        assertThatThrownBy(() -> ssg.backend().fence(event)).hasMessageContaining("clGetEventInfo");
        assertThat(SsgFake.references(event)).isEqualTo(before);
    }

    /** The first query is whether the fence is signalled, the second which context it is of. */
    @Test
    void aFenceThatCannotBeAskedForItsContextIsWaitedForByTheHost() {
        long before = SsgFake.references(event);
        ssg.control.fail("clGetEventInfo", 2, OpenClError.OUT_OF_HOST_MEMORY);
        CompletableFuture<Completion> reading = submit(read().after(fence));
        assertThat(SsgFake.references(event)).isEqualTo(before);
        letOthersRun();
        assertThat(reading).as("before the event").isNotDone();
        OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
        assertArrived(reading);
    }

    @Test
    void aMarkerThatCannotBeFlushedIsReleased() {
        long other = ssg.userEvent();
        ClPoint point = new ClPoint(ssg.context, 0, true);
        point.join(event);
        point.join(other);
        ssg.control.fail("clFlush", 1, OpenClError.OUT_OF_RESOURCES);
        point.place(() -> {});
        assertThat(point.nativeHandle()).as("a fence on the host alone").isZero();
        point.free();
        assertThat(SsgFake.references(event)).as("the test's and the fence's").isEqualTo(2);
        OpenCl.clSetUserEventStatus(other, OpenCl.CL_COMPLETE);
        OpenCl.clReleaseEvent(other);
    }
}
