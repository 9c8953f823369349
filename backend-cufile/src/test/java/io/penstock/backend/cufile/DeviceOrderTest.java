// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static io.penstock.backend.cufile.GpuFixture.LONG;
import static io.penstock.backend.cufile.GpuFixture.await;
import static io.penstock.backend.cufile.GpuFixture.content;
import static io.penstock.backend.cufile.GpuFixture.get;
import static io.penstock.backend.cufile.GpuFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Application;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.engine.spi.staging.StagingOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Transfers and kernels of the application in one order. */
@ExtendWith(FreshFakes.class)
class DeviceOrderTest {

    private static final int BYTES = 5 << 20; // several staging buffers

    @TempDir
    Path folder;

    private GpuFixture gpu;
    private Application application;

    @BeforeEach
    void start() {
        gpu = new GpuFixture(folder);
        application = new Application(0);
    }

    @AfterEach
    void nothingLeaks() {
        application.letKernelsEnd();
        Fakes.cuda().release("cuMemcpyHtoDAsync");
        Fakes.cufile().release("cuFileReadAsync");
        gpu.close();
        application.close();
        for (String kind : List.of(
                "contexts", "streams", "events", "allocations", "host_registrations", "host_buffers", "pinned")) {
            await(() -> Fakes.cuda().live(kind) == 0);
        }
    }

    private StorageFile file(Backend backend, byte[] bytes) {
        return gpu.immutable(backend, gpu.file("data", bytes));
    }

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAPPED", "STREAM"})
    void kernelsWaitOnTheGpuForATransferThatIsEnqueued(CufilePath path) {
        byte[] bytes = random(BYTES, 1);
        Backend backend = gpu.backend(path);
        StorageFile file = file(backend, bytes);
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        DeviceBuffer copy = gpu.buffer(backend, BYTES);
        assertThat(backend.capabilities().fences()).isEqualTo(FenceSupport.AFTER_STAGING);
        Fakes.cuda().hold("cuMemcpyHtoDAsync");
        Fakes.cufile().hold("cuFileReadAsync");

        DeviceFence fence = gpu.keep(get(backend.enqueue(Transfer.read(file.all(), target.all()))));
        assertThat(fence.nativeHandle()).isNotZero();
        assertThat(fence.isSignalled()).as("the copies are held").isFalse();
        CudaStream.of(application.stream()).await(fence);
        application.copy(copy.nativeHandle(), target.nativeHandle(), BYTES);

        Fakes.cuda().release("cuMemcpyHtoDAsync");
        Fakes.cufile().release("cuFileReadAsync");
        application.synchronize();
        TransferPath taken = path == CufilePath.STREAM ? TransferPath.COMPAT : TransferPath.valueOf(path.name());
        assertThat(get(fence.outcome()).path()).isEqualTo(taken);
        assertThat(content(copy)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"STAGED, 0", "MAPPED, 0", "STREAM, 0", "STAGED, 1000000", "MAPPED, 1000000"})
    void aTransferWaitsForAnEventOfTheApplicationsAndNothingElseDoes(CufilePath path, int spinMicros) {
        byte[] bytes = random(BYTES, 2);
        Backend backend = gpu.backend(GpuFixture.options(path).with(StagingOptions.SPIN_MICROS, spinMicros));
        StorageFile file = file(backend, bytes);
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        application.spin();
        DeviceFence kernel = backend.fence(application.record());
        Mono<Completion> read = backend.submit(
                        Transfer.read(file.all(), target.all()).after(kernel))
                .cache();
        read.subscribe();
        gpu.letOthersRun(backend);
        assertThat(kernel.isSignalled()).isFalse();
        StepVerifier.create(read.timeout(Duration.ZERO, Mono.empty())).verifyComplete();

        application.letKernelsEnd();
        assertThat(get(read).bytes()).isEqualTo(BYTES);
        assertThat(kernel.isSignalled()).isTrue();
        StepVerifier.create(kernel.signalled()).expectComplete().verify(LONG);
        StepVerifier.create(kernel.outcome()).expectComplete().verify(LONG);
        assertThat(content(target)).isEqualTo(bytes);
    }

    @Test
    void aSlowKernelReadsItsChunkWhileTheRingContinuesAndNeverReadsTheNextData() {
        int chunk = 1 << 20;
        byte[] bytes = random(6 * chunk, 3);
        Backend backend = gpu.backend(CufilePath.STAGED);
        DeviceBuffer seen = gpu.buffer(backend, bytes.length);
        CudaStream stream = CudaStream.of(application.stream());
        List<Long> lent = new CopyOnWriteArrayList<>();
        StreamPlan plan =
                StreamPlan.of(gpu.file("data", bytes)).chunkBytes(chunk).depth(3);
        Mono<List<Long>> all = backend.stream(plan, c -> {
                    lent.add(c.index());
                    long from = c.region().buffer().nativeHandle() + c.region().offset();
                    application.copyLate(seen.nativeHandle() + c.fileOffset(), from, c.length());
                    return c.releaseAfter(stream.fence()).thenReturn(c.index());
                })
                .collectList()
                .cache();
        all.subscribe();
        await(() -> lent.size() == 3);
        gpu.letOthersRun(backend);
        assertThat(lent).as("chunks lent while kernels read them").containsExactly(0L, 1L, 2L);

        application.letKernelsEnd();
        assertThat(get(all)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        application.synchronize();
        assertThat(content(seen)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAPPED", "STREAM"})
    void aTransferInAStreamIsOrderedWithItsKernels(CufilePath path) {
        byte[] bytes = random(BYTES, 4);
        Backend backend = gpu.backend(path);
        StorageFile file = file(backend, bytes);
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        DeviceBuffer before = gpu.buffer(backend, BYTES);
        DeviceBuffer behind = gpu.buffer(backend, BYTES);
        byte[] old = content(target);
        CudaStream stream = CudaStream.of(application.stream());
        application.copyLate(before.nativeHandle(), target.nativeHandle(), BYTES);
        DeviceFence fence = gpu.keep(
                get(backend.enqueue(Transfer.read(file.all(), target.all()).on(stream))));
        application.copy(behind.nativeHandle(), target.nativeHandle(), BYTES);
        gpu.letOthersRun(backend);
        assertThat(fence.isSignalled()).as("the kernel before still runs").isFalse();

        application.letKernelsEnd();
        Completion carried = get(fence.outcome());
        assertThat(carried.bytes()).isEqualTo(BYTES);
        assertThat(carried.path() == TransferPath.COMPAT).isEqualTo(path == CufilePath.STREAM);
        application.synchronize();
        assertThat(content(before)).as("what the kernel before has seen").isEqualTo(old);
        assertThat(content(behind)).as("what the kernel behind has seen").isEqualTo(bytes);
    }

    @Test
    void aWriteThatAStreamCarriesTakesWhatTheKernelsBeforeItMade() {
        byte[] bytes = random(BYTES, 5);
        Backend backend = gpu.backend(CufilePath.STAGED);
        DeviceBuffer source = gpu.buffer(backend, BYTES);
        DeviceBuffer made = gpu.buffer(backend, BYTES);
        StorageFile in = file(backend, bytes);
        GpuFixture.move(backend, Transfer.read(in.all(), source.all()));
        StorageFile out = gpu.open(backend, folder.resolve("out"), FileOption.WRITE, FileOption.CREATE);
        application.copyLate(made.nativeHandle(), source.nativeHandle(), BYTES);
        Mono<Completion> write = backend.submit(
                        Transfer.write(made.all(), out.region(0, BYTES)).on(CudaStream.of(application.stream())))
                .cache();
        write.subscribe();
        gpu.letOthersRun(backend);
        application.letKernelsEnd();
        assertThat(get(write).bytes()).isEqualTo(BYTES);
        assertThat(folder.resolve("out")).hasBinaryContent(bytes);
    }

    @Test
    void aFenceIsSignalledOnFailureToo() {
        Backend backend = gpu.backend(CufilePath.MAPPED);
        StorageFile file = file(backend, random(BYTES, 6));
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        Fakes.cuda().fail("cuMemHostRegister", 1, 1);
        DeviceFence fence = gpu.keep(get(backend.enqueue(Transfer.read(file.all(), target.all()))));
        CudaStream.of(application.stream()).await(fence);
        application.synchronize();
        StepVerifier.create(fence.signalled()).expectComplete().verify(LONG);
        StepVerifier.create(fence.outcome())
                .expectError(PenstockException.class)
                .verify(LONG);
    }

    @Test
    void everyCopyOfATransferOverManyStagingBuffersIsBeforeItsFence() {
        byte[] bytes = random(20 << 20, 7);
        Backend backend = gpu.backend(CufilePath.STAGED);
        StorageFile file = file(backend, bytes);
        CudaStream stream = CudaStream.of(application.stream());
        for (int round = 0; round < 10; round++) {
            DeviceBuffer target = gpu.buffer(backend, bytes.length);
            DeviceBuffer copy = gpu.buffer(backend, bytes.length);
            DeviceFence fence = get(backend.enqueue(Transfer.read(file.all(), target.all())));
            stream.await(fence);
            fence.close();
            application.copy(copy.nativeHandle(), target.nativeHandle(), bytes.length);
            application.synchronize();
            assertThat(Arrays.equals(content(copy), bytes))
                    .as("round %d", round)
                    .isTrue();
        }
    }

    @Test
    void unknownObjectsOfTheDriverAreRefused() {
        Backend backend = gpu.backend(CufilePath.STAGED);
        assertThatThrownBy(() -> backend.fence(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> backend.fence(0x1234)).isInstanceOf(IllegalArgumentException.class);
        Fakes.cuda().forgive();
        assertThatThrownBy(() -> CudaStream.of(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CudaStream.of(0x1234)).isInstanceOf(IllegalArgumentException.class);
        Fakes.cuda().forgive();
    }

    @Test
    void aFenceThatIsClosedWhileItIsAwaitedIsFreedWhenItIsSignalled() {
        Backend backend = gpu.backend(CufilePath.STAGED);
        CudaStream stream = CudaStream.of(application.stream());
        application.spin();
        gpu.letOthersRun(backend);
        long events = Fakes.cuda().live("events"); // all that the backend needs has been made
        DeviceFence fence = stream.fence();
        Mono<Void> signalled = fence.signalled().cache();
        signalled.subscribe();
        fence.close();
        fence.close();
        gpu.letOthersRun(backend);
        assertThat(fence.isSignalled()).isFalse();
        assertThat(Fakes.cuda().live("events"))
                .as("destroyed while it is waited for")
                .isEqualTo(events + 1);
        application.letKernelsEnd();
        StepVerifier.create(signalled).expectComplete().verify(LONG);
        await(() -> Fakes.cuda().live("events") == events);
        assertThat(fence.isSignalled()).isTrue();
    }

    @Test
    void aTransferWaitsForAFenceThatWasClosedBeforeItBegan() {
        byte[] bytes = random(BYTES, 8);
        Backend backend = gpu.backend(CufilePath.STAGED);
        StorageFile file = file(backend, bytes);
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        application.spin();
        DeviceFence kernel = CudaStream.of(application.stream()).fence();
        Mono<Completion> read = backend.submit(
                        Transfer.read(file.all(), target.all()).after(kernel))
                .cache();
        kernel.close();
        read.subscribe();
        gpu.letOthersRun(backend);
        StepVerifier.create(read.timeout(Duration.ZERO, Mono.empty())).verifyComplete();

        application.letKernelsEnd();
        assertThat(get(read).bytes()).isEqualTo(BYTES);
        assertThat(content(target)).isEqualTo(bytes);
        assertThat(kernel.isSignalled()).isTrue();
    }
}
