// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.dx11.device.CopyCompletions;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Kernel32;
import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.tck.Witness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** An {@code ID3D11Fence} of the application's, and fences that it is handed. */
@Tag("fake")
@ExtendWith(Direct3dFake.class)
class ApplicationFenceTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int BYTES = 1 << 20;

    private long device;
    private long device5;
    private long context4;
    private Backend backend;

    @TempDir
    Path folder;

    @BeforeEach
    void open() {
        Options fenced = Direct3dFake.options(true);
        device = Dx11s.device();
        long[] context = new long[1];
        D3d11.GetImmediateContext(device, context);
        device5 = Com.as(device, D3d11.DEVICE_5);
        context4 = Com.as(context[0], D3d11.CONTEXT_4);
        Com.Release(context[0]);
        backend = new Dx11Provider()
                .open(Dx11s.resolved(fenced.with(Dx11Options.DEVICE, "0x" + Long.toHexString(device))));
    }

    @AfterEach
    void everyReferenceIsGivenBack() {
        backend.close();
        Com.Release(context4);
        Com.Release(device5);
        assertThat(Com.Release(device)).as("references that are left").isZero();
    }

    @Test
    void aTransferAfterAFenceOfTheApplicationsWaitsForIt() throws IOException {
        long[] fence = new long[1];
        assertThat(D3d11.CreateFence(device5, 0, 0, D3d11.FENCE.id(), fence)).isZero();
        Path path = Files.write(folder.resolve("file"), new byte[BYTES]);
        StorageFile file = backend.openFile(path, FileOption.READ).block(PATIENCE);
        try (DeviceBuffer buffer = backend.allocate(BYTES).block(PATIENCE);
                DeviceFence drawn = backend.fence(fence[0])) {
            assertThat(drawn.isSignalled()).isFalse();
            Witness<Completion> reading = Witness.of(
                    backend.submit(Transfer.read(file.all(), buffer.all()).after(drawn)));
            backend.submit(Transfer.read(file.all(), buffer.all())).block(PATIENCE);
            assertThat(reading.hasEnded()).isFalse();
            assertThat(D3d11.Signal(context4, fence[0], 1)).isZero();
            assertThat(reading.value().bytes()).isEqualTo(BYTES);
            assertThat(drawn.isSignalled()).isTrue();
        }
        file.close();
        assertThat(Com.Release(fence[0])).isZero();
    }

    @Test
    void aFenceBehindATransferIsAnID3d11FenceAtItsValue() throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[BYTES]);
        StorageFile file = backend.openFile(path, FileOption.READ).block(PATIENCE);
        try (DeviceBuffer buffer = backend.allocate(BYTES).block(PATIENCE);
                DeviceFence fence =
                        backend.enqueue(Transfer.read(file.all(), buffer.all())).block(PATIENCE)) {
            fence.signalled().block(PATIENCE);
            long handle = Com.as(fence.nativeHandle(), D3d11.FENCE);
            assertThat(handle).isNotZero();
            awaitValue(handle); // the device passes it behind what told of the end
            assertThat(D3d11.GetCompletedValue(handle)).isEqualTo(CopyCompletions.FENCE_VALUE);
            Com.Release(handle);
        }
        file.close();
    }

    private static void awaitValue(long fence) {
        long event = Kernel32.CreateEventW(0, 0, 0, 0);
        assertThat(event).isNotZero();
        assertThat(D3d11.SetEventOnCompletion(fence, CopyCompletions.FENCE_VALUE, event))
                .isZero();
        assertThat(Kernel32.WaitForSingleObject(event, (int) PATIENCE.toMillis()))
                .isZero();
        assertThat(Kernel32.CloseHandle(event)).isNotZero();
    }
}
