// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The application's device, buffers and queries: what we take of them, and that we give everything back. */
class ApplicationDeviceTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int BYTES = 300_001;

    private long device;
    private Backend backend;

    @TempDir
    Path folder;

    @BeforeEach
    void open() {
        device = Dx11s.device();
        backend = new Dx11Provider().open(Dx11s.resolved(Dx11s.on(device)));
    }

    @AfterEach
    void everyReferenceIsGivenBack() {
        if (backend != null) {
            backend.close();
            assertThat(Com.Release(device)).as("references that are left").isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {D3d11.USAGE_DEFAULT, D3d11.USAGE_DYNAMIC, D3d11.USAGE_STAGING})
    void buffersOfEveryUsageAreReadIntoAndWrittenFromAtAnyOffset(int usage) throws IOException {
        byte[] content = new byte[BYTES];
        new Random(usage).nextBytes(content);
        Path path = Files.write(folder.resolve("source"), content);
        Path copy = folder.resolve("copy");
        long handle = Dx11s.buffer(device, BYTES + 1000, usage);
        int before = Dx11s.references(handle);
        try (DeviceBuffer buffer = backend.wrap(handle, BYTES + 1000)) {
            StorageFile file = backend.openFile(path, FileOption.READ).block(PATIENCE);
            StorageFile other =
                    backend.openFile(copy, FileOption.WRITE, FileOption.CREATE).block(PATIENCE);
            // Two reads that meet at an odd place, small and large.
            backend.submit(Transfer.read(file.region(0, 777), buffer.region(333, 777)))
                    .block(PATIENCE);
            backend.submit(Transfer.read(file.region(777, BYTES - 777), buffer.region(333 + 777, BYTES - 777)))
                    .block(PATIENCE);
            backend.submit(Transfer.write(buffer.region(333, BYTES), other.region(0, BYTES)))
                    .block(PATIENCE);
            assertThat(Files.readAllBytes(copy)).isEqualTo(content);
            file.close();
            other.close();
        }
        assertThat(Dx11s.references(handle)).isEqualTo(before);
        assertThat(Com.Release(handle)).isZero();
    }

    @Test
    void aWholeDynamicBufferIsReplaced() throws IOException {
        Path path = Files.write(folder.resolve("source"), new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        long handle = Dx11s.buffer(device, 8, D3d11.USAGE_DYNAMIC);
        try (DeviceBuffer buffer = backend.wrap(handle, 8)) {
            backend.withFile(path, FileOption.READ, file -> backend.submit(Transfer.read(file.all(), buffer.all())))
                    .block(PATIENCE);
            ByteBuffer target = ByteBuffer.allocateDirect(8);
            buffer.download(0, target).block(PATIENCE);
            byte[] got = new byte[8];
            target.duplicate().clear().get(got);
            assertThat(got).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
        }
        Com.Release(handle);
    }

    @Test
    void theApplicationMayUseTheContextMeanwhile() throws IOException {
        byte[] content = new byte[BYTES];
        new Random(7).nextBytes(content);
        Path path = Files.write(folder.resolve("source"), content);
        Path copy = folder.resolve("copy");
        long drawn = Dx11s.buffer(device, 4096, D3d11.USAGE_DEFAULT);
        long[] context = new long[1];
        D3d11.GetImmediateContext(device, context);
        ByteBuffer frame = ByteBuffer.allocateDirect(4096);
        AtomicBoolean over = new AtomicBoolean();
        Thread application = new Thread(() -> {
            while (!over.get()) {
                D3d11.UpdateSubresource(context[0], drawn, 0, 0, NativeMemory.address(frame), 0, 0);
                D3d11.Flush(context[0]);
            }
        });
        application.start();
        try (DeviceBuffer buffer = backend.allocate(BYTES).block(PATIENCE)) {
            StorageFile file = backend.openFile(path, FileOption.READ).block(PATIENCE);
            StorageFile other =
                    backend.openFile(copy, FileOption.WRITE, FileOption.CREATE).block(PATIENCE);
            for (int i = 0; i < 10; i++) {
                backend.submit(Transfer.read(file.all(), buffer.all())).block(PATIENCE);
                backend.submit(Transfer.write(buffer.all(), other.region(0, BYTES)))
                        .block(PATIENCE);
            }
            file.close();
            other.close();
        } finally {
            over.set(true);
            join(application);
            Com.Release(context[0]);
            Com.Release(drawn);
        }
        assertThat(Files.readAllBytes(copy)).isEqualTo(content);
    }

    private static void join(Thread thread) {
        try {
            thread.join(PATIENCE.toMillis());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void onlyBuffersOfThisDeviceAreWrapped() {
        long other = Dx11s.device();
        long foreign = Dx11s.buffer(other, 4096, D3d11.USAGE_DEFAULT);
        long small = Dx11s.buffer(device, 4096, D3d11.USAGE_DEFAULT);
        assertThatThrownBy(() -> backend.wrap(foreign, 4096))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("belongs to another device");
        assertThatThrownBy(() -> backend.wrap(small, 4097))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has 4096 bytes, not 4097");
        assertThatThrownBy(() -> backend.wrap(device, 4096))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not an ID3D11Buffer");
        Com.Release(small);
        Com.Release(foreign);
        assertThat(Com.Release(other)).isZero();
    }

    @Test
    void aQueryOfTheApplicationsIsAFence() {
        long[] query = new long[1];
        long[] context = new long[1];
        D3d11.CreateQuery(device, new int[] {D3d11.Query.EVENT, 0}, query);
        D3d11.GetImmediateContext(device, context);
        D3d11.End(context[0], query[0]);
        Com.Release(context[0]);
        try (DeviceFence fence = backend.fence(query[0])) {
            fence.signalled().block(PATIENCE);
            assertThat(fence.isSignalled()).isTrue();
            assertThat(fence.outcome().blockOptional(PATIENCE)).isEmpty();
        }
        assertThatThrownBy(() -> backend.fence(device)).isInstanceOf(IllegalArgumentException.class);
        assertThat(Com.Release(query[0])).isZero();
    }

    @Test
    void aFenceBehindATransferIsASignalledQuery() throws IOException {
        Path path = Files.write(folder.resolve("source"), new byte[BYTES]);
        StorageFile file = backend.openFile(path, FileOption.READ).block(PATIENCE);
        try (DeviceBuffer buffer = backend.allocate(BYTES).block(PATIENCE);
                DeviceFence fence =
                        backend.enqueue(Transfer.read(file.all(), buffer.all())).block(PATIENCE)) {
            fence.signalled().block(PATIENCE);
            long query = Com.as(fence.nativeHandle(), D3d11.Query.TABLE);
            assertThat(query).isNotZero();
            Com.Release(query);
        }
        file.close();
    }
}
