// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.gl.ffi.Wgl;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.paths.GlProvider;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * AMD's extension where AMD had it: its functions come from {@code wglGetProcAddress}, and no EGL is there. In a JVM of
 * its own, since a process loads one opengl32.dll: this one stands in front of the system's.
 */
class SsgWglTest {

    private static final int BYTES = 100_000; // the last block is a part of one

    @TempDir
    Path folder;

    @Test
    void theFunctionsThatWglProvidesReadAFileAndWriteAnother() throws IOException {
        Require.backend("wgl", Wgl.isHere() ? null : "WGL is a part of Windows");
        Path fake = Path.of("../backend-dx11/target/wine/opengl32-fake.dll").toAbsolutePath();
        Options options = Options.none()
                .with(GlOptions.PATH, GlPath.SSG)
                .with(GlOptions.LIBGL, fake.normalize().toString())
                .with(GlOptions.SSG_EXTENSION, "GL_AMD_ssg_fake")
                .with(GlOptions.SSG_BLOCK_SIZE_TOKEN, "0x7F01")
                .with(GlOptions.SSG_FILE_SIZE_TOKEN, "0x7F02")
                .with(GlOptions.SSG_HANDLE_BITS, "64");
        byte[] content = GlFixture.random(BYTES, 3);
        Path from = Files.write(folder.resolve("from-\u00e4"), content);
        Path to = folder.resolve("to");
        try (Backend backend = new GlProvider().open(options.resolve(Backends.options()));
                StorageFile file = GlFixture.get(backend.openFile(from, FileOption.READ));
                StorageFile copy = GlFixture.get(backend.openFile(to, FileOption.CREATE, FileOption.WRITE));
                DeviceBuffer buffer = GlFixture.get(backend.allocate(BYTES))) {
            Completion read = GlFixture.move(backend, Transfer.read(file.all(), buffer.all()));
            assertThat(read.path()).as(read.reason()).isEqualTo(TransferPath.DIRECT);
            assertThat(read.bytes()).isEqualTo(BYTES);
            Completion written = GlFixture.move(backend, Transfer.write(buffer.all(), copy.region(0, BYTES)));
            assertThat(written.path()).as(written.reason()).isEqualTo(TransferPath.DIRECT);
        }
        assertThat(to).hasBinaryContent(content);
    }
}
