// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.tck.Witness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A copy behind which the fence cannot be signalled fails, but not before the device has made it. */
@Tag("fake")
@ExtendWith(Direct3dFake.class)
class FailedMarkTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int BYTES = 64 << 10;

    @TempDir
    Path folder;

    /** UpdateSubresource, CopySubresourceRegion from a staging buffer and to one, and between buffers. */
    @ParameterizedTest
    @ValueSource(strings = {"update", "in", "out", "between"})
    void required_201_buffersAreInUseUntilTheCopyHasCompleted(String kind) throws IOException {
        byte[] content = new byte[BYTES];
        new Random(1).nextBytes(content);
        Path path = Files.write(folder.resolve("file"), content);
        try (Backend backend = new Dx11Provider()
                        .open(Dx11s.resolved(Direct3dFake.options(true)
                                .with(Dx11Options.UPDATE_BYTES, kind.equals("update") ? (long) BYTES : 0L)));
                DeviceBuffer buffer = backend.allocate(BYTES).block(PATIENCE);
                DeviceBuffer other = backend.allocate(BYTES).block(PATIENCE);
                StorageFile file = backend.openFile(path, FileOption.READ, FileOption.WRITE)
                        .block(PATIENCE)) {
            Transfer transfer = switch (kind) {
                case "out" -> Transfer.write(buffer.all(), file.all());
                case "between" -> Transfer.copy(other.all(), buffer.all());
                default -> Transfer.read(file.all(), buffer.all());
            };
            Direct3dFake.hold(true);
            Direct3dFake.refuseSignals(1);
            Witness<Completion> failing = Witness.of(backend.submit(transfer));
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (Direct3dFake.waitingMaps() == 0 && !failing.hasEnded() && System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            assertThat(failing.hasEnded()).as("ended while the device copies").isFalse();
            Direct3dFake.hold(false);
            assertThat(failing.error())
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining("ID3D11DeviceContext4::Signal -> E_OUTOFMEMORY");
            assertThat(backend.submit(Transfer.read(file.all(), buffer.all()))
                            .block(PATIENCE)
                            .bytes())
                    .isEqualTo(BYTES);
            assertThat(BackendFixture.content(buffer)).isEqualTo(content);
        }
    }
}
