// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.opencl.paths.OpenClProvider;
import io.penstock.engine.testing.UserProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A user's program in a JVM of its own, on the class path and on the module path, which knows no backend. */
class SmokeTest {

    private static final Map<String, String> CHOSEN = Map.of("PENSTOCK_BACKEND", "opencl-ssg");

    @TempDir
    Path directory;

    private UserProgram program;

    @BeforeEach
    void compile() throws IOException {
        OpenCls.require();
        program = UserProgram.compile(directory, OpenClProvider.class);
    }

    private static void assertReads(UserProgram.Said said, String module) {
        assertThat(said.code()).as(said.toString()).isZero();
        assertThat(said.out().lines())
                .contains("opencl-ssg read 8 bytes: penstock in " + module)
                .anyMatch(line -> line.startsWith("opencl-ssg: "));
        assertThat(said.err().lines().filter(line -> line.startsWith("WARNING")))
                .as("warnings of the JVM: native access that was not allowed, Unsafe")
                .isEmpty();
    }

    @Test
    void aProgramOnTheModulePathReadsAFile() throws IOException, InterruptedException {
        assertReads(program.onModulePath(CHOSEN), "smoke");
    }

    @Test
    void aProgramOnTheClassPathReadsAFile() throws IOException, InterruptedException {
        assertReads(program.onClassPath(CHOSEN), "no module");
    }

    @Test
    void aMissingLibraryIsReported() throws IOException, InterruptedException {
        UserProgram.Said said = program.onClassPath(
                Map.of("PENSTOCK_BACKEND", "opencl-ssg", "PENSTOCK_OPENCL_LIBRARY", "/nowhere/libOpenCL.so.1"));
        assertThat(said.code()).isNotZero();
        assertThat(said.err())
                .contains("backend 'opencl-ssg' cannot be used: no OpenCL: ")
                .contains("/nowhere/libOpenCL.so.1")
                .contains("ocl-icd-libopencl1");
    }

    @Test
    void aMissingDriverIsReportedWhereTheLibraryExists() throws IOException, InterruptedException {
        UserProgram.Said said =
                program.onClassPath(Map.of("PENSTOCK_BACKEND", "opencl-ssg", "OCL_ICD_VENDORS", directory + "/none"));
        assertThat(said.code()).isNotZero();
        assertThat(said.err())
                .contains("backend 'opencl-ssg' cannot be used: no OpenCL platform: ")
                .contains("OCL_ICD_VENDORS");
    }
}
