// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
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

/** A device that is removed while AMD's driver transfers; the driver's event does not report it. */
@Tag("fake")
@ExtendWith({Direct3dFake.class, SsgFake.class})
class SsgLossTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    @Test
    void aTransferOfARemovedDeviceFailsWithTheReasonAndTheNextDeviceWorks() throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[SsgFake.BLOCK]);
        Direct3dFake.options(false);
        Options options = Dx11s.resolved(SsgFake.options(1));
        try (Backend backend = new Dx11Provider().open(options)) {
            DeviceBuffer buffer = backend.allocate(SsgFake.BLOCK).block(PATIENCE);
            StorageFile file = backend.openFile(path, FileOption.READ).block(PATIENCE);
            SsgFake.hold(true);
            Witness<Completion> reading = Witness.of(backend.submit(Transfer.read(file.all(), buffer.all())));
            while (SsgFake.calls(SsgFake.READ) < 1) {
                Thread.onSpinWait();
            }
            Direct3dFake.remove(Hresult.DXGI_ERROR_DEVICE_HUNG, false);
            assertThat(reading.hasEnded()).isFalse();
            SsgFake.hold(false);
            assertThat(reading.error())
                    .isInstanceOf(DeviceLostException.class)
                    .hasMessageContaining("GetDeviceRemovedReason -> DXGI_ERROR_DEVICE_HUNG (0x887a0006)");
            file.close();
            buffer.close();
        }
        try (Backend again = new Dx11Provider().open(options)) {
            Completion moved = again.withFile(
                            path,
                            FileOption.READ,
                            file -> again.withBuffer(
                                    SsgFake.BLOCK, buffer -> again.submit(Transfer.read(file.all(), buffer.all()))))
                    .block(PATIENCE);
            assertThat(moved.path()).isEqualTo(TransferPath.DIRECT);
        }
    }
}
