// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.paths.GlProvider;
import io.penstock.engine.testing.UserProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A user's program in a JVM of its own, on the class path and on the module path, which knows no backend; and what it
 * gets where OpenGL is not what it should be, as Mesa can be configured.
 */
@Tag("slow")
class SmokeTest {

    @TempDir
    Path directory;

    private UserProgram program;

    @BeforeEach
    void compile() throws IOException {
        GlSubject.require();
        program = UserProgram.compile(directory, GlProvider.class);
    }

    private UserProgram.Said with(Map<String, String> environment) throws IOException, InterruptedException {
        Map<String, String> all = new HashMap<>(environment);
        all.put("PENSTOCK_BACKEND", "gl");
        return program.onClassPath(all);
    }

    private static void assertReads(UserProgram.Said said, String module) {
        assertThat(said.code()).as(said.toString()).isZero();
        assertThat(said.out().lines())
                .contains("gl read 8 bytes: penstock in " + module)
                .anyMatch(line -> line.startsWith("gl: ") && line.contains("OpenGL "));
        assertThat(said.err().lines().filter(line -> line.startsWith("WARNING")))
                .as("warnings of the JVM: native access that was not allowed, Unsafe")
                .isEmpty();
    }

    private static void assertRefuses(UserProgram.Said said, String... words) {
        assertThat(said.code()).as(said.toString()).isNotZero();
        assertThat(said.err()).contains("backend 'gl' cannot be used: ").contains(words);
    }

    @Test
    void aProgramOnTheModulePathReadsAFile() throws IOException, InterruptedException {
        assertReads(program.onModulePath(Map.of("PENSTOCK_BACKEND", "gl")), "smoke");
    }

    @Test
    void aProgramOnTheClassPathReadsAFile() throws IOException, InterruptedException {
        assertReads(with(Map.of()), "no module");
    }

    @Test
    void aProgramReadsByFunctionsThatEglProvides() throws IOException, InterruptedException {
        String driver = SsgFake.file().toString(); // a libEGL, a libOpenGL, and the extension
        UserProgram.Said said = with(Map.of(
                "PENSTOCK_GL_PATH", "ssg",
                "PENSTOCK_GL_LIBEGL", driver,
                "PENSTOCK_GL_LIBGL", driver,
                "SSG_GL_EXTENSION", "1",
                "PENSTOCK_GL_SSG_EXTENSION", "GL_PENSTOCK_fake",
                "PENSTOCK_GL_SSG_BLOCK_SIZE_TOKEN", "0x7F01",
                "PENSTOCK_GL_SSG_FILE_SIZE_TOKEN", "0x7F02",
                "PENSTOCK_GL_SSG_HANDLE_BITS", "64"));
        assertReads(said, "no module");
    }

    @Test
    void anOlderGlWithBufferStorageReadsAFileByBindings() throws IOException, InterruptedException {
        Map<String, String> older =
                Map.of("MESA_GL_VERSION_OVERRIDE", "4.3", "MESA_EXTENSION_OVERRIDE", "-GL_ARB_direct_state_access");
        for (String path : new String[] {"host", "staged"}) {
            Map<String, String> environment = new HashMap<>(older);
            environment.put("PENSTOCK_GL_PATH", path);
            UserProgram.Said said = with(environment);
            assertReads(said, "no module");
            assertThat(said.out()).contains("OpenGL 4.3");
        }
    }

    @Test
    void aGlWithoutBufferStorageIsRefusedAndTheReasonNamed() throws IOException, InterruptedException {
        assertRefuses(
                with(Map.of("MESA_GL_VERSION_OVERRIDE", "4.3", "MESA_EXTENSION_OVERRIDE", "-GL_ARB_buffer_storage")),
                "no ARB_buffer_storage: ",
                "has OpenGL 4.3");
    }

    @Test
    void aGlThatIsTooOldIsRefusedAndTheReasonNamed() throws IOException, InterruptedException {
        assertRefuses(with(Map.of("MESA_GL_VERSION_OVERRIDE", "3.0")), "too old: ");
    }

    @Test
    void aMissingDisplayIsReported() throws IOException, InterruptedException {
        assertRefuses(with(Map.of("PENSTOCK_GL_DEVICE", "63")), "no display: EGL lists [EGL device 0");
    }

    @Test
    void aMissingEglIsReported() throws IOException, InterruptedException {
        assertRefuses(
                with(Map.of("PENSTOCK_GL_LIBEGL", "/nowhere/libEGL.so.1")),
                "no EGL: /nowhere/libEGL.so.1",
                "install libegl1");
    }

    @Test
    void aMissingOpenGlIsReported() throws IOException, InterruptedException {
        assertRefuses(with(Map.of("PENSTOCK_GL_LIBGL", "/nowhere/libGL.so.1")), "no OpenGL: /nowhere/libGL.so.1");
    }
}
