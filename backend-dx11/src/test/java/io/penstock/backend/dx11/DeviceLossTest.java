// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.tck.Witness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A device that is removed, hung or reset: nothing hangs, the reason is reported, and another can be opened. */
@Tag("fake")
@ExtendWith(Direct3dFake.class)
class DeviceLossTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int BYTES = 3 << 20;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "DXGI_ERROR_DEVICE_REMOVED, false, false",
        "DXGI_ERROR_DEVICE_HUNG, false, true",
        "DXGI_ERROR_DEVICE_RESET, true, false",
        "DXGI_ERROR_DRIVER_INTERNAL_ERROR, true, true"
    })
    void everythingInFlightEndsWithTheReasonAndTheNextDeviceWorks(String reason, boolean fences, boolean silently)
            throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[BYTES]);
        Backend backend = new Dx11Provider().open(Dx11s.resolved(Direct3dFake.options(fences)));
        DeviceBuffer buffer = backend.allocate(BYTES).block(PATIENCE);
        StorageFile file =
                backend.openFile(path, FileOption.READ, FileOption.WRITE).block(PATIENCE);
        Direct3dFake.hold(true);
        Witness<Completion> read = Witness.of(backend.submit(Transfer.read(file.all(), buffer.all())));
        Witness<Completion> write = Witness.of(backend.submit(Transfer.write(buffer.all(), file.all())));
        assertThat(read.hasEnded() || write.hasEnded()).isFalse();

        Direct3dFake.remove(number(reason), silently);
        assertLost(read.error(), reason);
        assertLost(write.error(), reason);
        buffer.revoked().block(PATIENCE);
        Direct3dFake.hold(false);
        assertThatThrownBy(() ->
                        backend.submit(Transfer.read(file.all(), buffer.all())).block(PATIENCE))
                .isInstanceOf(DeviceLostException.class);
        assertThatThrownBy(() -> backend.allocate(4096).block(PATIENCE))
                .isInstanceOf(DeviceLostException.class)
                .hasMessageContaining("GetDeviceRemovedReason -> " + reason);
        file.close();
        buffer.close();
        backend.close();

        try (Backend again = new Dx11Provider().open(Dx11s.resolved(Direct3dFake.options(fences)))) {
            Completion moved = again.withFile(
                            path,
                            FileOption.READ,
                            reopened -> again.withBuffer(
                                    BYTES, target -> again.submit(Transfer.read(reopened.all(), target.all()))))
                    .block(PATIENCE);
            assertThat(moved.bytes()).isEqualTo(BYTES);
        }
    }

    /** Else the thread would sleep as if it were woken. */
    @Test
    void anEventThatTheFenceDoesNotTakeIsOfferedAgain() throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[BYTES]);
        try (Backend backend = new Dx11Provider().open(Dx11s.resolved(Direct3dFake.options(true)));
                DeviceBuffer buffer = backend.allocate(BYTES).block(PATIENCE);
                StorageFile file = backend.openFile(path, FileOption.READ).block(PATIENCE)) {
            Direct3dFake.hold(true);
            Direct3dFake.refuseEvents(1);
            Witness<Completion> read = Witness.of(backend.submit(Transfer.read(file.all(), buffer.all())));
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (Direct3dFake.events() < 2 && System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            assertThat(Direct3dFake.events()).isGreaterThan(1);
            assertThat(read.hasEnded()).isFalse();
            Direct3dFake.hold(false);
            assertThat(read.value().bytes()).isEqualTo(BYTES);
        }
    }

    private static void assertLost(Throwable error, String reason) {
        assertThat(error)
                .isInstanceOf(DeviceLostException.class)
                .hasMessageContaining("the device is removed: GetDeviceRemovedReason -> " + reason);
        assertThat(((PenstockException) error).nativeError()).isPresent();
    }

    private static int number(String reason) {
        return switch (reason) {
            case "DXGI_ERROR_DEVICE_REMOVED" -> Hresult.DXGI_ERROR_DEVICE_REMOVED;
            case "DXGI_ERROR_DEVICE_HUNG" -> Hresult.DXGI_ERROR_DEVICE_HUNG;
            case "DXGI_ERROR_DEVICE_RESET" -> Hresult.DXGI_ERROR_DEVICE_RESET;
            default -> Hresult.DXGI_ERROR_DRIVER_INTERNAL_ERROR;
        };
    }
}
