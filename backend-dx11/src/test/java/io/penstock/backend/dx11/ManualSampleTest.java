// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/**
 * "10 AMD Code Sample for DirectX", line for line in our API. Where the manual slips, this does what it means:
 *
 * <ul>
 *   <li>{@code hDxxExt} is looked at, but the library's handle is in {@code hDxxDll}: an absent library goes unseen;
 *   <li>the interface is {@code IAmdDxExtSsg} here, and {@code IAmdDxExtSSG} in chapter 9;
 *   <li>{@code If (FAILED(hr))} is no C++;
 *   <li>the region's size is {@code dxLFFileInfo.blockSize}, of a variable that is called {@code dxSsgFileInfo}, and
 *     one block is not SIZE_TO_READ;
 *   <li>the region is declared as {@code regionDesc}, and passed as {@code regionDescs};
 *   <li>BUFF_OFFSET + SIZE_TO_READ does not fit a buffer of SIZE_TO_READ unless the offset is 0;
 *   <li>the comment that stands between {@code hr} and its call, and the brace behind it, have changed places;
 *   <li>{@code GetExtInterface} and {@code AmdDxExtCreate11} give references that are never released, each early
 *     {@code return} leaves the file open, and a failed read is reported and gone on from.
 * </ul>
 */
@ExtendWith(SsgFake.class)
class ManualSampleTest {

    private static final long FILE_OFFSET = 8192;
    private static final long BUFF_OFFSET = 4096;
    private static final long SIZE_TO_READ = 16384;

    @TempDir
    Path folder;

    private static Mono<byte[]> sample(Backend backend, Path fileName) {
        // Create SSG file handle; released on every way out, where the sample says "Release the file when you're done".
        return backend.withFile(fileName, FileOption.READ, file -> {
            // Get the file information: file size and block size.
            long fileSize = file.size();
            long blockSize = file.blockSize();
            if (FILE_OFFSET % blockSize != 0 || FILE_OFFSET + SIZE_TO_READ > fileSize) {
                return Mono.error(new IllegalArgumentException("blocks of " + blockSize + " bytes"));
            }
            // Create buffer: SIZE_TO_READ behind BUFF_OFFSET, usage DEFAULT, for shaders; released on every way out.
            return backend.withBuffer(BUFF_OFFSET + SIZE_TO_READ, dxBuffer -> read(backend, file, dxBuffer));
        });
    }

    private static Mono<byte[]> read(Backend backend, StorageFile file, DeviceBuffer dxBuffer) {
        byte[] seen = new byte[(int) SIZE_TO_READ];
        // Read information from the file. Here BUFF_OFFSET, SIZE_TO_READ and FILE_OFFSET need not align with the sector
        // size, and an error is the Mono's.
        return backend.submit(Transfer.read(
                        file.region(FILE_OFFSET, SIZE_TO_READ), dxBuffer.region(BUFF_OFFSET, SIZE_TO_READ)))
                .doOnNext(done -> assertThat(done.path()).isEqualTo(TransferPath.DIRECT))
                .then(dxBuffer.download(BUFF_OFFSET, ByteBuffer.wrap(seen)))
                .thenReturn(seen);
    }

    /** Create module handle, initial function pointer, general extension object, SSG extension interface. */
    private SsgBench open() {
        return new SsgBench(folder, SsgFake.options(1));
    }

    @Test
    void theSampleReadsWhatItRequests() throws IOException {
        byte[] content = BackendFixture.random(40_000, 10);
        Path file = Files.write(folder.resolve("sample"), content);
        try (SsgBench ssg = open()) {
            assertThat(sample(ssg.backend(), file).block(SsgBench.PATIENCE))
                    .isEqualTo(Arrays.copyOfRange(content, (int) FILE_OFFSET, (int) (FILE_OFFSET + SIZE_TO_READ)));
        }
    }

    @Test
    void aFileThatIsNotThereIsAnErrorAsTheSampleMeansIt() {
        try (SsgBench ssg = open()) {
            assertThatThrownBy(() ->
                            sample(ssg.backend(), folder.resolve("absent")).block(SsgBench.PATIENCE))
                    .hasCauseInstanceOf(NoSuchFileException.class);
        }
    }

    @Test
    void aDeviceWithoutTheExtensionIsAnErrorAsTheSampleMeansIt() {
        SsgFake.answer("AmdDxExtCreate11", Hresult.E_FAIL, 1);
        assertThatThrownBy(this::open).isInstanceOf(BackendUnavailableException.class);
    }
}
