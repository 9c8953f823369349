// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.paths.ContextChoice;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.device.GpuDevice;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.device.GpuSlabs;
import io.penstock.backend.gpu.staged.PinnedBuffer;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.FakeControl;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.Exceptions;
import reactor.core.scheduler.Schedulers;

/** Memory of a GPU: allocated, kept, wrapped, refused and lost. */
@ExtendWith(FreshFakes.class)
class CudaDriverTest {

    private static final long SPAN = GpuSlabs.SPAN_BYTES;

    private FakeControl cuda;
    private Backend backend;

    @BeforeEach
    void open() {
        backend = Backends.open("cufile", CufileSubject.fakes().with(CufileOptions.PATH, CufilePath.STAGED));
        cuda = Fakes.cuda();
    }

    @AfterEach
    void close() {
        backend.close();
        assertThat(cuda.awaitLive("contexts", 0)).as("contexts").isZero();
    }

    private DeviceBuffer allocate(long bytes) {
        return Objects.requireNonNull(backend.allocate(bytes).block());
    }

    @Test
    void smallBuffersShareASpanAndStartAtWholePages() {
        Set<Long> addresses = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            addresses.add(allocate(1 + i * 17L).nativeHandle());
        }
        assertThat(addresses).hasSize(100).allMatch(address -> address % 4096 == 0);
        assertThat(cuda.calls("cuMemAlloc")).isEqualTo(1);
    }

    @Test
    void aBufferThatIsClosedIsHandedOutAgainWithoutTheDriver() {
        for (long bytes : new long[] {4096, 1 << 20, SPAN, 5 * SPAN + 1}) {
            DeviceBuffer first = allocate(bytes);
            long address = first.nativeHandle();
            first.close();
            long calls = cuda.calls("cuMemAlloc");
            DeviceBuffer second = allocate(bytes);
            assertThat(second.nativeHandle()).isEqualTo(address);
            assertThat(cuda.calls("cuMemAlloc")).isEqualTo(calls);
        }
        assertThat(cuda.calls("cuMemFree")).isZero();
    }

    @Test
    void aBufferTooLargeToBeKeptIsFreedAlsoWhereNoThreadTakesTheCall() {
        DeviceBuffer large = allocate(300L << 20);
        Thread here = Thread.currentThread();
        Schedulers.onScheduleHook("rejects", task -> {
            if (Thread.currentThread() == here) {
                throw Exceptions.failWithRejected();
            }
            return task;
        });
        try {
            large.close();
        } finally {
            Schedulers.resetOnScheduleHook("rejects");
        }
        assertThat(cuda.awaitLive("allocations", 0)).isZero();
    }

    @Test
    void idleMemoryIsFreedBeforeTheGpuIsReportedAsFull() {
        List<DeviceBuffer> small = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            small.add(allocate(300_000));
        }
        DeviceBuffer large = allocate(40 * SPAN);
        DeviceBuffer kept = small.remove(0);
        small.forEach(DeviceBuffer::close);
        large.close();
        cuda.fail("cuMemAlloc", 1, Cuda.OUT_OF_MEMORY);
        allocate(3 * SPAN);
        assertThat(cuda.calls("cuMemFree")).as("spans that were idle").isEqualTo(3);
        assertThat(kept.nativeHandle()).isNotZero();
    }

    @Test
    void aFullGpuIsATransientError() {
        cuda.fail("cuMemAlloc", 0, Cuda.OUT_OF_MEMORY);
        assertThatThrownBy(() -> allocate(SPAN))
                .isInstanceOf(TransientStorageException.class)
                .hasMessageContaining("allocation of 2097152 bytes on GPU 0")
                .hasMessageContaining("cuMemAlloc -> CUDA_ERROR_OUT_OF_MEMORY (2)");
        cuda.fail("cuMemAlloc", -1, 0);
        assertThat(allocate(SPAN).length()).isEqualTo(SPAN);
    }

    @Test
    void aLostContextIsALostDeviceAndTheCauseIsNamed() {
        cuda.fail("cuMemAlloc", 1, 700);
        assertThatThrownBy(() -> allocate(SPAN))
                .isInstanceOf(DeviceLostException.class)
                .hasMessageContaining("CUDA_ERROR_ILLEGAL_ADDRESS (700)")
                .hasMessageContaining("a kernel in this CUDA context, not this transfer, has failed");
    }

    @Test
    void memoryOfTheApplicationIsWrappedAndNeverFreed() {
        DeviceBuffer own = allocate(3 * SPAN);
        try (DeviceBuffer wrapped = backend.wrap(own.nativeHandle() + 512, SPAN)) {
            assertThat(wrapped.nativeHandle()).isEqualTo(own.nativeHandle() + 512);
            ByteBuffer bytes = ByteBuffer.allocate(1000);
            for (int i = 0; i < 1000; i++) {
                bytes.put(i, (byte) i);
            }
            assertThat(wrapped.upload(0, bytes).block()).isEqualTo(1000);
            ByteBuffer seen = ByteBuffer.allocate(1000);
            own.download(512, seen).block();
            assertThat(seen).isEqualTo(bytes);
        }
        assertThat(cuda.calls("cuMemFree")).isZero();
    }

    private void assertNotWrapped(long pointer, long bytes, String why) {
        assertThatThrownBy(() -> backend.wrap(pointer, bytes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0x" + Long.toHexString(pointer))
                .hasMessageContaining(why);
    }

    @Test
    void required_402_pointersThatDoNotDoAreRefusedWithTheReason() {
        long pointer = allocate(SPAN).nativeHandle();
        assertNotWrapped(pointer + 16, 100, "is not a multiple of 256");
        assertNotWrapped(0, 100, "is not memory of the CUDA driver");
        assertNotWrapped(0x12345600, 100, "is not memory of the CUDA driver");
        assertNotWrapped(pointer + 256, SPAN, "has 2096896 bytes up to the end of its allocation, not 2097152");
        try (PinnedOwner pinned = new PinnedOwner()) {
            assertNotWrapped(pinned.staging.nativeHandle(), 100, "is memory of the host, not of a GPU");
        }
    }

    @Test
    void memoryWhoseWatcherThrowsIsFreed() {
        GpuContext context = ContextChoice.open(CufileSubject.fakes().resolve(Backends.options()));
        GpuDevice driver = new GpuDevice(context, new Refusing(), Set.of(TransferPath.STAGED), 0);
        long live = LiveObjects.count(GpuMemory.class);
        assertThatThrownBy(() -> driver.allocate(300L << 20)).isInstanceOf(DeviceLostException.class);
        assertThat(LiveObjects.count(GpuMemory.class)).isEqualTo(live);
        assertThat(cuda.awaitLive("allocations", 0)).isZero();
        driver.close();
    }

    private static final class Refusing implements GpuDevice.Watcher {
        @Override
        public void allocated(GpuMemory memory) {
            throw new DeviceLostException("the context is lost", Failure.NOT_STARTED, null);
        }

        @Override
        public void close() {}
    }

    /** Pinned memory of the host. */
    private static final class PinnedOwner implements AutoCloseable {
        private final GpuContext context =
                ContextChoice.open(CufileSubject.fakes().resolve(Backends.options()));
        private final PinnedBuffer staging = PinnedBuffer.Pool.of(context).take(4096L);

        @Override
        public void close() {
            staging.free();
            context.leave();
        }
    }

    @Test
    void required_402_memoryOfAnotherContextIsRefusedWithBoth() {
        try (OtherContext other = new OtherContext(0)) {
            long pointer = other.allocate(4096);
            assertNotWrapped(pointer, 4096, "is memory of another context, " + other.address());
            other.free(pointer);
        }
    }

    @Test
    void required_402_memoryOfAnotherGpuIsRefusedWithBoth() {
        cuda.set("device_count", 2);
        try (OtherContext other = new OtherContext(1)) {
            long pointer = other.allocate(4096);
            assertNotWrapped(pointer, 4096, "is memory of GPU 1, this backend uses GPU 0");
            other.free(pointer);
        }
    }

    @Test
    void required_402_memoryOfTheHostIsRefused() {
        assertThatThrownBy(() -> backend.wrap(ByteBuffer.allocateDirect(4096)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a GPU cannot wrap host memory");
        assertThatThrownBy(() -> backend.fence(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void resourcesLeftOpenAreClosedWithTheBackend() {
        for (long bytes : new long[] {1, 4096, SPAN, 300L << 20}) {
            allocate(bytes);
        }
        backend.close();
        // Memory that is too large to be kept goes on a thread that may wait for the GPU, behind the close.
        assertThat(cuda.awaitLive("allocations", 0)).isZero();
        assertThat(cuda.awaitLive("contexts", 0)).isZero();
        assertThat(LiveObjects.count(GpuMemory.class)).isZero();
        assertThat(LiveObjects.count(PinnedBuffer.class)).isZero();
    }
}
