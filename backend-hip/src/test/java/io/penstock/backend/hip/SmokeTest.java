// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.hip.fakes.HipDouble;
import io.penstock.backend.hip.paths.HipProvider;
import io.penstock.engine.testing.UserProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A user's program in a JVM of its own, on the class path and on the module path, which knows no backend. */
class SmokeTest {

    @TempDir
    Path directory;

    private UserProgram program;
    private Map<String, String> environment;

    @BeforeEach
    void compile() throws IOException {
        environment = Map.of(
                "PENSTOCK_BACKEND", "hip",
                "PENSTOCK_HIP_LIBAMDHIP64", HipDouble.libamdhip64().toString(),
                "PENSTOCK_HIP_LIBHIPFILE", HipDouble.libhipfile().toString());
        program = UserProgram.compile(directory, HipProvider.class, GpuContext.class);
    }

    private static void assertReads(UserProgram.Said said, String module) {
        assertThat(said.code()).as(said.toString()).isZero();
        assertThat(said.out().lines())
                .contains("hip read 8 bytes: penstock in " + module)
                .anyMatch(line -> line.startsWith("hip: ") && line.contains("HIP 7.2.0"));
        assertThat(said.err().lines().filter(line -> line.startsWith("WARNING")))
                .as("warnings of the JVM: native access that was not allowed, Unsafe")
                .isEmpty();
    }

    @Test
    void aProgramOnTheModulePathReadsAFile() throws IOException, InterruptedException {
        assertReads(program.onModulePath(environment), "smoke");
    }

    @Test
    void aProgramOnTheClassPathReadsAFile() throws IOException, InterruptedException {
        assertReads(program.onClassPath(environment), "no module");
    }

    @Test
    void aMissingDriverIsReported() throws IOException, InterruptedException {
        UserProgram.Said said = program.onClassPath(
                Map.of("PENSTOCK_BACKEND", "hip", "PENSTOCK_HIP_LIBAMDHIP64", "/nowhere/libamdhip64.so"));
        assertThat(said.code()).isNotZero();
        assertThat(said.err())
                .contains("backend 'hip' cannot be used: no HIP runtime: /nowhere/libamdhip64.so")
                .contains("install ROCm's HIP runtime");
    }
}
