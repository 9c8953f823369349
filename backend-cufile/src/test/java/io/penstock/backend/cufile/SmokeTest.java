// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.backend.gpu.context.GpuContext;
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
                "PENSTOCK_BACKEND", "cufile",
                "PENSTOCK_CUFILE_LIBCUDA", Fakes.libcuda().toString(),
                "PENSTOCK_CUFILE_LIBCUFILE", Fakes.libcufile().toString());
        program = UserProgram.compile(directory, CufileProvider.class, GpuContext.class);
    }

    private static void assertReads(UserProgram.Said said, String module) {
        assertThat(said.code()).as(said.toString()).isZero();
        assertThat(said.out().lines())
                .contains("cufile read 8 bytes: penstock in " + module)
                .anyMatch(line -> line.startsWith("cufile: ") && line.contains("CUDA 13.0"));
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
                Map.of("PENSTOCK_BACKEND", "cufile", "PENSTOCK_CUFILE_LIBCUDA", "/nowhere/libcuda.so.1"));
        assertThat(said.code()).isNotZero();
        assertThat(said.err())
                .contains("backend 'cufile' cannot be used: no CUDA driver: /nowhere/libcuda.so.1")
                .contains("install NVIDIA's driver");
    }
}
