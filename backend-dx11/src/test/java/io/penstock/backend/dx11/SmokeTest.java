// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.engine.testing.UserProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A user's program in a JVM of its own, on the class path and on the module path, on a machine that is no Windows. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the Java runtime under Wine has no compiler")
class SmokeTest {

    private static final Map<String, String> ENVIRONMENT = Map.of("PENSTOCK_BACKEND", "dx11");

    @TempDir
    Path directory;

    private UserProgram program;

    @BeforeEach
    void compile() throws IOException {
        program = UserProgram.compile(directory, Dx11Provider.class);
    }

    private static void assertReported(UserProgram.Said said) {
        assertThat(said.code()).isNotZero();
        assertThat(said.err())
                .contains("backend 'dx11' cannot be used: Direct3D 11 is a part of Windows, and this is ");
    }

    @Test
    void aProgramOnTheModulePathIsRefusedWithARemedy() throws IOException, InterruptedException {
        assertReported(program.onModulePath(ENVIRONMENT));
    }

    @Test
    void aProgramOnTheClassPathIsRefusedWithARemedy() throws IOException, InterruptedException {
        assertReported(program.onClassPath(ENVIRONMENT));
    }
}
