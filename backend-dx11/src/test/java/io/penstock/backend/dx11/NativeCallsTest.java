// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.memory.TextureShape;
import io.penstock.backend.dx11.paths.Dx11Provider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How many calls of Direct3D one transfer of one region takes, once everything is there. */
@Tag("fake")
@ExtendWith(Direct3dFake.class)
class NativeCallsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "false, 4096, 3, 5", // UpdateSubresource, End, GetData; Unmap, CopySubresourceRegion, End, GetData, Map
        "false, 1048576, 5, 5",
        "true, 4096, 4, 6", // Signal, Flush and GetCompletedValue for End and GetData
        "true, 1048576, 6, 6"
    })
    void aTransferTakesFewCalls(boolean fences, int bytes, int ofRead, int ofWrite) throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[bytes]);
        Backend backend = new Dx11Provider().open(Dx11s.resolved(Direct3dFake.options(fences)));
        DeviceBuffer buffer = backend.allocate(bytes).block(PATIENCE);
        StorageFile file =
                backend.openFile(path, FileOption.READ, FileOption.WRITE).block(PATIENCE);
        int ringing = ringing(fences);
        assertThat(calls(backend, Transfer.read(file.all(), buffer.all())))
                .isBetween(ofRead, ofRead + ringing)
                .isLessThanOrEqualTo(8);
        assertThat(calls(backend, Transfer.write(buffer.all(), file.all())))
                .isBetween(ofWrite, ofWrite + ringing)
                .isLessThanOrEqualTo(8);
        file.close();
        buffer.close();
        backend.close();
    }

    @ParameterizedTest
    @CsvSource({"false, 3", "true, 4"
    }) // UpdateSubresource, End, GetData; Signal, Flush and GetCompletedValue for these two
    void aTextureTakesFewCallsBesideTheQuestionsToItself(boolean fences, int ofRead) throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[64 << 10]);
        long device = Dx11s.device();
        Backend backend = new Dx11Provider()
                .open(Dx11s.resolved(
                        Direct3dFake.options(fences).with(Dx11Options.DEVICE, "0x" + Long.toHexString(device))));
        ImageRegion.Texels size = new ImageRegion.Texels(256, 256, 1);
        try (Texture texture = Texture.of(device, TextureShape.Kind.TWO, size, 1, Texture.R8_UNORM);
                StorageFile file = backend.openFile(path, FileOption.READ).block(PATIENCE)) {
            ImageRegion all = new ImageRegion(
                    texture.handle(),
                    0,
                    new ImageRegion.Texels(0, 0, 0),
                    size,
                    new ImageRegion.Layout(Texture.R8_UNORM, 1, 256, 64 << 10));
            assertThat(calls(backend, Transfer.read(file.all(), all))).isBetween(ofRead, ofRead + ringing(fences));
        }
        backend.close();
        assertThat(Com.Release(device)).isZero();
    }

    /** A fence is asked to ring where a copy takes long, and the copy may end while it is asked where it stands. */
    private static int ringing(boolean fences) {
        return fences ? 2 : 0;
    }

    /** Returns the least of several: what the machine lets wait asks more often. */
    private static int calls(Backend backend, Transfer transfer) {
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            int before = Direct3dFake.calls();
            assertThat(backend.submit(transfer).block(PATIENCE).bytes())
                    .isEqualTo(transfer.fileRegion(0).length());
            least = i < 4 ? least : Math.min(least, Direct3dFake.calls() - before);
        }
        return least;
    }
}
