// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static io.penstock.backend.cufile.GpuFixture.await;
import static io.penstock.backend.cufile.GpuFixture.content;
import static io.penstock.backend.cufile.GpuFixture.get;
import static io.penstock.backend.cufile.GpuFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Application;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Several GPUs in one process: each call in the context of its own, on threads that they share. */
@ExtendWith(FreshFakes.class)
class SeveralGpusTest {

    private static final int BYTES = 5 << 20;

    @TempDir
    Path folder;

    private GpuFixture gpus;

    @BeforeEach
    void start() {
        Fakes.cuda().set("device_count", 2);
        gpus = new GpuFixture(folder);
    }

    @AfterEach
    void nothingLeaks() {
        gpus.close();
        for (String kind : List.of(
                "contexts", "streams", "events", "allocations", "host_registrations", "host_buffers", "pinned")) {
            await(() -> Fakes.cuda().live(kind) == 0);
        }
    }

    private Backend backend(CufilePath path, int device) {
        return gpus.backend(GpuFixture.options(path).with(CufileOptions.DEVICE, device));
    }

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAPPED"})
    void transfersOfTwoGpusRunBesideEachOther(CufilePath path) {
        byte[] bytes = random(BYTES, 1);
        Path data = gpus.file("data", bytes);
        List<DeviceBuffer> targets = new ArrayList<>();
        List<Mono<Completion>> reads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Backend backend = i < 2 ? backend(path, i) : backend(path, i % 2);
            StorageFile file = gpus.immutable(backend, data);
            DeviceBuffer target = gpus.buffer(backend, BYTES);
            targets.add(target);
            reads.add(backend.submit(Transfer.read(file.all(), target.all())));
        }
        Flux.merge(reads).then().block(GpuFixture.LONG);
        for (DeviceBuffer target : targets) {
            assertThat(Arrays.equals(content(target), bytes)).isTrue();
        }
    }

    @Test
    void fencesAreEventsOfTheirOwnGpu() {
        byte[] bytes = random(BYTES, 2);
        Path data = gpus.file("data", bytes);
        for (int device = 0; device < 2; device++) {
            Backend backend = backend(CufilePath.STAGED, device);
            StorageFile file = gpus.immutable(backend, data);
            DeviceBuffer target = gpus.buffer(backend, BYTES);
            DeviceBuffer copy = gpus.buffer(backend, BYTES);
            try (Application application = new Application(device);
                    DeviceFence fence = get(backend.enqueue(Transfer.read(file.all(), target.all())))) {
                CudaStream stream = CudaStream.of(application.stream());
                stream.await(fence);
                application.copy(copy.nativeHandle(), target.nativeHandle(), BYTES);
                application.synchronize();
                assertThat(content(copy)).isEqualTo(bytes);
                DeviceFence passed = gpus.keep(stream.fence());
                passed.signalled().block(GpuFixture.LONG);
            }
        }
    }

    @Test
    void aStreamOfAnotherGpuCarriesNothing() {
        Backend backend = backend(CufilePath.STAGED, 0);
        StorageFile file = gpus.immutable(backend, gpus.file("data", random(4096, 3)));
        DeviceBuffer target = gpus.buffer(backend, 4096);
        try (Application other = new Application(1)) {
            Transfer carried = Transfer.read(file.all(), target.all()).on(CudaStream.of(other.stream()));
            assertThatThrownBy(() -> get(backend.submit(carried))).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> get(backend.enqueue(carried))).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void memoryOfAnotherGpuIsNotWrapped() {
        Backend first = backend(CufilePath.STAGED, 0);
        Backend second = backend(CufilePath.STAGED, 1);
        DeviceBuffer memory = gpus.buffer(second, 4096);
        assertThat(first.isDeviceAddress(memory.nativeHandle())).isTrue();
        assertThatThrownBy(() -> first.wrap(memory.nativeHandle(), 4096)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aCopyFromAnotherGpuTakesTheLinkBetweenThem() {
        copyFromAnother(TransferPath.DIRECT);
        assertThat(Fakes.cuda().calls("cuCtxEnablePeerAccess")).isEqualTo(1);
    }

    @Test
    void withoutALinkCudaCopiesThroughHostMemory() {
        Fakes.cuda().set("no_peers", 1);
        copyFromAnother(TransferPath.STAGED);
        assertThat(Fakes.cuda().calls("cuCtxEnablePeerAccess")).isZero();
    }

    private void copyFromAnother(TransferPath path) {
        byte[] bytes = random((64 << 20) + 1, 4); // more than a segment
        Backend first = backend(CufilePath.STAGED, 0);
        Backend second = backend(CufilePath.STAGED, 1);
        DeviceBuffer from = gpus.buffer(first, bytes.length);
        from.upload(0, ByteBuffer.wrap(bytes)).block(GpuFixture.LONG);
        DeviceBuffer to = gpus.buffer(second, bytes.length);
        Transfer copy = Transfer.copy(from.all(), to.all());
        assertThat(second.explain(copy).path()).isEqualTo(path);
        for (int i = 0; i < 2; i++) {
            assertThat(get(second.submit(copy)).path()).isEqualTo(path);
        }
        assertThat(content(to)).isEqualTo(bytes);
        assertThat(Fakes.cuda().calls("cuMemcpyPeerAsync")).isEqualTo(4);
    }

    /** Behind them, each copy would keep the link to the host idle while it runs. */
    @Test
    void aCopyFromAnotherGpuDoesNotWaitForCopiesOfStagingBuffers() {
        String toGpu = "cuMemcpyHtoDAsync";
        Backend first = backend(CufilePath.STAGED, 0);
        Backend second = backend(CufilePath.STAGED, 1);
        byte[] bytes = random(4096, 6);
        DeviceBuffer from = gpus.buffer(first, bytes.length);
        from.upload(0, ByteBuffer.wrap(bytes)).block(GpuFixture.LONG);
        DeviceBuffer to = gpus.buffer(second, bytes.length);
        StorageFile file = gpus.immutable(second, gpus.file("data", random(4096, 7)));
        DeviceBuffer target = gpus.buffer(second, 4096);
        Fakes.cuda().hold(toGpu);
        try {
            Mono<Completion> read =
                    second.submit(Transfer.read(file.all(), target.all())).cache();
            read.subscribe();
            assertThat(Fakes.cuda().awaitHeld(toGpu, 1)).isEqualTo(1);
            get(second.submit(Transfer.copy(from.all(), to.all())));
            Fakes.cuda().release(toGpu);
            get(read);
        } finally {
            Fakes.cuda().release(toGpu);
        }
        assertThat(content(to)).isEqualTo(bytes);
    }

    @Test
    void aGpuThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> backend(CufilePath.STAGED, 7)).isInstanceOf(BackendUnavailableException.class);
    }
}
