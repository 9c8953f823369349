// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.BackendUnavailableException;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.PcieDevice;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.ffi.BusMemory;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.backend.opencl.gma.BusAddressableBuffer;
import io.penstock.backend.opencl.gma.DirectGma;
import io.penstock.backend.opencl.gma.ExternalBuffer;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Memory that a device on the bus writes to, and its memory, with signals both ways. */
@ExtendWith(FreshSsg.class)
class DirectGmaTest {

    private static final int PAGE = 4096;
    private static final String RESIDENT = "clEnqueueMakeBuffersResidentAMD";
    private static final String WAIT = "clEnqueueWaitSignalAMD";

    private SsgFixture ssg;
    private DirectGma bus;

    @BeforeEach
    void open() {
        ssg = SsgFixture.open(SsgFixture.OPTIONS);
        bus = DirectGma.open(SsgFixture.OPTIONS);
    }

    @AfterEach
    void close() {
        bus.close();
        ssg.close();
    }

    private static CompletableFuture<Void> future(Mono<Void> mono) {
        return mono.toFuture().orTimeout(20, TimeUnit.SECONDS);
    }

    @Test
    void aDevicesWritesAreVisibleWithItsSignal() throws IOException {
        byte[] frame = BackendFixture.random(2 * PAGE, 1);
        Path path = SsgFixture.write("frames", new byte[0]);
        try (BusAddressableBuffer frames = bus.allocate(2 * PAGE);
                DeviceBuffer buffer = ssg.backend().wrap(frames.nativeHandle(), frames.bytes())) {
            assertThat(frames.surfaceAddress() % PAGE).isZero();
            StorageFile file = ssg.file(path, FileOption.READ, FileOption.WRITE);
            CompletableFuture<Completion> saved;
            try (DeviceFence written = frames.signal(1)) {
                saved = ssg.backend()
                        .submit(Transfer.write(buffer.all(), file.region(0, 2 * PAGE))
                                .after(written))
                        .toFuture()
                        .orTimeout(20, TimeUnit.SECONDS);
                assertThat(written.isSignalled())
                        .as("before the device has written")
                        .isFalse();
                assertThat(saved).isNotDone();
                PcieDevice.write(frames.surfaceAddress(), frame);
                PcieDevice.signal(frames.markerAddress(), 1);
                assertThat(saved.join().bytes()).isEqualTo(2 * PAGE);
            }
        }
        assertThat(Files.readAllBytes(path)).isEqualTo(frame);
    }

    @Test
    void severalBuffersBecomeResidentByOneCommand() {
        List<BusAddressableBuffer> buffers = bus.allocate(List.of(1L, 2L * PAGE, 3L * PAGE));
        assertThat(ssg.control.calls(RESIDENT)).isEqualTo(1);
        assertThat(buffers).extracting(BusAddressableBuffer::bytes).containsExactly(1L * PAGE, 2L * PAGE, 3L * PAGE);
        for (int i = 0; i < buffers.size(); i++) {
            BusAddressableBuffer buffer = buffers.get(i);
            byte[] frame = BackendFixture.random(PAGE, i);
            PcieDevice.write(buffer.surfaceAddress() + buffer.bytes() - PAGE, frame);
            CompletableFuture<Void> written = future(buffer.waitSignal(7 + i));
            PcieDevice.signal(buffer.markerAddress(), 7 + i);
            written.join();
            try (DeviceBuffer wrapped = ssg.backend().wrap(buffer.nativeHandle(), buffer.bytes())) {
                byte[] content = BackendFixture.content(wrapped);
                assertThat(Arrays.copyOfRange(content, content.length - PAGE, content.length))
                        .isEqualTo(frame);
            }
        }
        buffers.forEach(BusAddressableBuffer::close);
    }

    @Test
    void residencyWaitsOnTheDeviceForItsFences() {
        long event = ssg.userEvent();
        try (DeviceFence fence = ssg.backend().fence(event)) {
            CompletableFuture<List<BusAddressableBuffer>> buffers =
                    CompletableFuture.supplyAsync(() -> bus.allocate(List.of(1L * PAGE, 1L * PAGE), fence));
            assertThat(ssg.control.awaitCalls("clWaitForEvents", 1)).isPositive();
            assertThat(buffers).isNotDone();
            OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
            buffers.orTimeout(20, TimeUnit.SECONDS).join().forEach(BusAddressableBuffer::close);
        }
        OpenCl.clReleaseEvent(event);
    }

    /**
     * Memory that the device is about to make resident is not freed, nor the place to which it writes the addresses.
     */
    @Test
    void residencyThatCannotBeWaitedForIsPolled() {
        long event = ssg.userEvent();
        try (DeviceFence fence = ssg.backend().fence(event)) {
            long waits = ssg.control.calls("clWaitForEvents");
            ssg.control.fail("clWaitForEvents", 0, OpenClError.OUT_OF_RESOURCES);
            CompletableFuture<List<BusAddressableBuffer>> buffers =
                    CompletableFuture.supplyAsync(() -> bus.allocate(List.of(1L * PAGE, 1L * PAGE), fence));
            assertThat(ssg.control.awaitCalls("clWaitForEvents", waits + 1)).isGreaterThan(waits);
            assertThat(buffers).isNotDone();
            OpenCl.clSetUserEventStatus(event, OpenCl.CL_COMPLETE);
            buffers.orTimeout(20, TimeUnit.SECONDS).join().forEach(BusAddressableBuffer::close);
            ssg.control.fail("clWaitForEvents", -1, 0);
        }
        OpenCl.clReleaseEvent(event);
    }

    @Test
    void residencyBehindAFenceThatFailsFailsAndLeavesNothing() {
        long event = ssg.userEvent();
        OpenCl.clSetUserEventStatus(event, -7);
        try (DeviceFence fence = ssg.backend().fence(event)) {
            assertThatThrownBy(() -> bus.allocate(List.of(1L * PAGE, 1L * PAGE), fence))
                    .hasMessageContaining(RESIDENT + " -> CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST");
        }
        OpenCl.clReleaseEvent(event);
    }

    @Test
    void oneBufferTooManyLeavesNoneOfThem() {
        SsgFake.set("gma_heap", 2 * PAGE);
        assertThatThrownBy(() -> bus.allocate(List.of(1L * PAGE, 1L * PAGE, 1L * PAGE)))
                .isInstanceOf(TransientStorageException.class)
                .hasMessageContaining("heap");
        assertThatThrownBy(() -> bus.allocate(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must not be empty");
        SsgFake.set("gma_heap", 96 << 20);
    }

    /** A driver need not start what is not flushed, and only the query of its status waits for this one. */
    @Test
    void aFenceOfASignalIsFlushed() {
        try (BusAddressableBuffer buffer = bus.allocate(PAGE)) {
            ssg.control.fail("clWaitForEvents", 0, OpenClError.OUT_OF_RESOURCES); // which would flush as well
            PcieDevice.signal(buffer.markerAddress(), 1);
            DeviceFence fence = buffer.signal(1);
            assertThat(ssg.control.awaitLive("operations", 0)).as("waits").isZero();
            ssg.control.fail("clWaitForEvents", -1, 0);
            OpenClFixture.await(fence::isSignalled);
            fence.close();
        }
    }

    /** A command that is not flushed need never start, and its fence never end. */
    @Test
    void aWaitThatCannotBeFlushedIsAnErrorAndEndsBehindIt() {
        try (BusAddressableBuffer buffer = bus.allocate(PAGE)) {
            ssg.control.fail("clFlush", 1, OpenClError.OUT_OF_RESOURCES);
            assertThatThrownBy(() -> buffer.signal(1)).hasMessageContaining("clFlush -> CL_OUT_OF_RESOURCES (-5)");
            PcieDevice.signal(buffer.markerAddress(), 1);
            future(buffer.waitSignal(1)).join();
        }
    }

    @Test
    void sixtyFourWaitsOfABufferAreTheMost() {
        try (BusAddressableBuffer buffer = bus.allocate(PAGE)) {
            List<DeviceFence> waits = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                waits.add(buffer.signal(1));
            }
            assertThatThrownBy(() -> buffer.signal(1))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining("64 waits are in flight");
            CompletableFuture<Void> last = future(waits.get(63).signalled());
            PcieDevice.signal(buffer.markerAddress(), 1);
            last.join();
            waits.forEach(DeviceFence::close);
        }
    }

    @Test
    void aWaitIsLazyAndCompletesForAHigherValueToo() {
        try (BusAddressableBuffer buffer = bus.allocate(PAGE)) {
            var third = buffer.waitSignal(3);
            assertThat(ssg.control.calls(WAIT)).as("before subscription").isZero();
            CompletableFuture<Void> waiting = future(third);
            PcieDevice.signal(buffer.markerAddress(), 2);
            assertThat(PcieDevice.await()).isZero();
            assertThat(waiting).isNotDone();
            PcieDevice.signal(buffer.markerAddress(), 4);
            waiting.join();
            future(third).join();
        }
    }

    @Test
    void nothingIsQueuedBehindAWait() {
        try (BusAddressableBuffer buffer = bus.allocate(PAGE)) {
            CompletableFuture<Void> late = future(buffer.waitSignal(100));
            CompletableFuture<Void> early = future(buffer.waitSignal(1));
            PcieDevice.signal(buffer.markerAddress(), 1);
            early.join();
            assertThat(late).isNotDone();
            assertThat(ssg.read(file(), ssg.buffer(PAGE)).bytes())
                    .as("a transfer meanwhile")
                    .isEqualTo(PAGE);
            PcieDevice.signal(buffer.markerAddress(), 100);
            late.join();
        }
    }

    private StorageFile file() {
        try {
            return ssg.file("meanwhile", new byte[PAGE]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void required_202_aCancelledWaitKeepsTheMemoryUntilItEnds() {
        BusAddressableBuffer buffer = bus.allocate(PAGE);
        long buffers = ssg.control.live("buffers");
        Disposable wait = buffer.waitSignal(1).subscribe();
        assertThat(ssg.control.awaitCalls(WAIT, 1)).isEqualTo(1);
        wait.dispose();
        buffer.close();
        assertThat(ssg.control.live("buffers"))
                .as("freed while the device waits")
                .isEqualTo(buffers);
        PcieDevice.signal(buffer.markerAddress(), 1);
        assertThat(ssg.control.awaitLive("buffers", buffers - 1)).isEqualTo(buffers - 1);
    }

    /**
     * As fast as they end, which is before the thread that polls their events sees it: neither queues nor the limit
     * of waits run out.
     */
    @Test
    void queuesOfWaitsThatHaveEndedAreUsedAgain() {
        try (BusAddressableBuffer buffer = bus.allocate(PAGE)) {
            long before = ssg.control.calls("clCreateCommandQueue");
            for (int value = 1; value <= 200; value++) {
                PcieDevice.signal(buffer.markerAddress(), value);
                try (DeviceFence signal = buffer.signal(value)) {
                    while (!signal.isSignalled()) {
                        Thread.onSpinWait();
                    }
                }
            }
            assertThat(ssg.control.calls("clCreateCommandQueue")).isEqualTo(before + 1);
        }
    }

    @Test
    void aWaitOnAClosedBufferIsRefused() {
        BusAddressableBuffer buffer = bus.allocate(PAGE);
        buffer.close();
        buffer.close();
        StepVerifier.create(buffer.waitSignal(1))
                .expectError(ClosedException.class)
                .verify(SsgFixture.LONG);
        assertThatThrownBy(() -> buffer.signal(1)).isInstanceOf(ClosedException.class);
    }

    @Test
    void aWaitThatTheDriverRefusesOrThatFailsLaterIsAnError() {
        try (BusAddressableBuffer buffer = bus.allocate(PAGE)) {
            ssg.control.fail(WAIT, 1, OpenClError.INVALID_OPERATION);
            StepVerifier.create(buffer.waitSignal(1))
                    .expectErrorSatisfies(e -> assertThat(e)
                            .isInstanceOf(PermanentStorageException.class)
                            .hasMessageContaining(WAIT + " -> CL_INVALID_OPERATION (-59)"))
                    .verify(SsgFixture.LONG);
            ssg.control.fail("late:" + WAIT, 1, OpenClError.INVALID_OPERATION);
            PcieDevice.signal(buffer.markerAddress(), 1);
            StepVerifier.create(buffer.waitSignal(1))
                    .expectErrorSatisfies(e -> assertThat(e).hasMessageContaining("CL_INVALID_OPERATION (-59)"))
                    .verify(SsgFixture.LONG);
            future(buffer.waitSignal(1)).join();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1L << 32, (1L << 32) + 1})
    void valuesAreThoseOf32BitsButNotZero(long value) {
        long device = PcieDevice.memory(2 * PAGE);
        try (BusAddressableBuffer in = bus.allocate(PAGE);
                ExternalBuffer out = bus.external(device, device + PAGE, PAGE)) {
            assertThatThrownBy(() -> in.waitSignal(value)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> in.signal(value)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> out.writeSignal(value)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> out.signal(value)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, CL_OUT_OF_RESOURCES (-5)", "1, CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"})
    void aFullHeapIsAnErrorThatNamesIt(long eager, String answer) {
        SsgFake.set("gma_heap", 4 * PAGE);
        SsgFake.set("gma_eager", eager);
        BusAddressableBuffer first = bus.allocate(3 * PAGE);
        assertThatThrownBy(() -> bus.allocate(2 * PAGE))
                .isInstanceOf(TransientStorageException.class)
                .hasMessageContaining("8192 bytes")
                .hasMessageContaining("bus-addressable heap")
                .hasMessageContaining(answer);
        first.close();
        bus.allocate(4 * PAGE).close();
    }

    @Test
    void sizesAreRoundedToPagesAndFlagsAreCheckedBeforeTheDriverIsCalled() {
        try (BusAddressableBuffer buffer = bus.allocate(PAGE + 1, OpenCl.CL_MEM_READ_ONLY)) {
            assertThat(buffer.bytes()).isEqualTo(2 * PAGE);
        }
        long asked = ssg.control.calls("clCreateBuffer");
        assertThatThrownBy(() -> bus.allocate(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> bus.allocate(Long.MAX_VALUE)).isInstanceOf(IllegalArgumentException.class);
        for (long flag : new long[] {
            OpenCl.CL_MEM_USE_HOST_PTR,
            OpenCl.CL_MEM_ALLOC_HOST_PTR,
            OpenCl.CL_MEM_COPY_HOST_PTR,
            Ssg.CL_MEM_USE_PERSISTENT_MEM_AMD,
            BusMemory.CL_MEM_EXTERNAL_PHYSICAL_AMD
        }) {
            assertThatThrownBy(() -> bus.allocate(PAGE, flag))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("CL_MEM_");
        }
        assertThat(ssg.control.calls("clCreateBuffer")).isEqualTo(asked);
    }

    @Test
    void addressesOfOtherDevicesAreCheckedForPagesBeforeTheDriverIsCalled() {
        long device = PcieDevice.memory(2 * PAGE);
        long asked = ssg.control.calls("clCreateBuffer");
        for (long wrong : new long[] {0, device + 1, device + 512}) {
            assertThatThrownBy(() -> bus.external(wrong, device + PAGE, PAGE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("surface");
            assertThatThrownBy(() -> bus.external(device, wrong, PAGE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("marker");
        }
        assertThat(ssg.control.calls("clCreateBuffer")).isEqualTo(asked);
    }

    @Test
    void aDeviceWithoutItIsRefusedWithTheReason() {
        SsgFake.set("gma", 0);
        assertThatThrownBy(() -> DirectGma.open(SsgFixture.OPTIONS))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no DirectGMA on device")
                .hasMessageContaining("cl_amd_bus_addressable_memory");
    }

    @Test
    void openBuffersKeepWorkingWhenDirectGmaIsClosed() {
        BusAddressableBuffer buffer = bus.allocate(PAGE);
        bus.close();
        assertThatThrownBy(() -> bus.allocate(PAGE)).isInstanceOf(IllegalStateException.class);
        PcieDevice.signal(buffer.markerAddress(), 1);
        future(buffer.waitSignal(1)).join();
        buffer.close();
    }
}
