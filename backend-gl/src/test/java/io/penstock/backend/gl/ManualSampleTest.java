// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.gl.fakes.FreshSsg;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/**
 * "8 AMD Code Sample for OpenGL", line for line in our API. Where the manual slips, this does what it means:
 *
 * <ul>
 *   <li>{@code if (hSsgFileFile != NULL)} reports an error where there is none, and goes on where the file is not open;
 *   <li>the block size is asked for and a zero is an error, but {@code glGetError} is not looked at;
 *   <li>{@code glDeleteBuffers(1, oglBuffer)} is given a name for the address of one;
 *   <li>each early {@code return} leaves the file, and later ones the buffer, behind.
 * </ul>
 */
@ExtendWith(FreshSsg.class)
class ManualSampleTest {

    private static final long FILE_OFFSET = 8192;
    private static final long BUFF_OFFSET = 4096;
    private static final long SIZE_TO_READ = 16384;

    @TempDir
    Path folder;

    private GlFixture fixture;
    private Backend backend;

    @BeforeEach
    void open() {
        fixture = new GlFixture(folder);
        backend = fixture.keep(SsgSubject.opened(SsgSubject.said()));
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Mono<byte[]> sample(Path fileName) {
        // Create file; closed on every way out, where the sample says "Release the file when you're done with it".
        return backend.withFile(fileName, FileOption.READ, file -> {
            // Get the file-size information.
            long fileSize = file.size();
            // Get the file-system information.
            long sectorSize = file.blockSize();
            if (FILE_OFFSET % sectorSize != 0 || FILE_OFFSET + SIZE_TO_READ > fileSize) {
                return Mono.error(new IllegalArgumentException("sectors of " + sectorSize + " bytes"));
            }
            // Create buffer; freed on every way out, where the sample says "Release the buffer".
            return backend.withBuffer(BUFF_OFFSET + SIZE_TO_READ, oglBuffer -> read(file, oglBuffer));
        });
    }

    private Mono<byte[]> read(StorageFile file, DeviceBuffer oglBuffer) {
        byte[] seen = new byte[(int) SIZE_TO_READ];
        // Read information from the file. Here BUFF_OFFSET, SIZE_TO_READ and FILE_OFFSET need not align with the sector
        // size, and an error is the Mono's.
        return backend.submit(Transfer.read(
                        file.region(FILE_OFFSET, SIZE_TO_READ), oglBuffer.region(BUFF_OFFSET, SIZE_TO_READ)))
                .then(oglBuffer.download(BUFF_OFFSET, ByteBuffer.wrap(seen)))
                .thenReturn(seen);
    }

    @Test
    void theSampleReadsWhatItRequests() throws IOException {
        byte[] content = GlFixture.random(40_000, 8);
        Path file = Files.write(folder.resolve("sample"), content);
        assertThat(GlFixture.get(sample(file)))
                .isEqualTo(Arrays.copyOfRange(content, (int) FILE_OFFSET, (int) (FILE_OFFSET + SIZE_TO_READ)));
    }

    @Test
    void aFileThatIsNotThereIsAnErrorAsTheSampleMeansIt() {
        assertThatThrownBy(() -> GlFixture.get(sample(folder.resolve("absent"))))
                .hasCauseInstanceOf(NoSuchFileException.class);
    }
}
