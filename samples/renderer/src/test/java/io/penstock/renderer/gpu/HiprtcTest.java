// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import io.penstock.renderer.volume.Kernels;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kernels by AMD's own compiler, which Debian's HIP runtime has in it, and which needs no GPU. */
class HiprtcTest {

    private static final String RUNTIME = "libamdhip64.so.5";
    private static final Pattern KERNEL = Pattern.compile("^KERNEL\\((\\w+), \\d+\\)", Pattern.MULTILINE);
    private static final List<String> ARCHITECTURES = List.of("gfx906", "gfx90a", "gfx1030");

    @TempDir
    Path folder;

    private static @Nullable String refusal() {
        try {
            NativeLibrary.getInstance(RUNTIME).getFunction("hiprtcCreateProgram");
            return null;
        } catch (UnsatisfiedLinkError e) {
            return "no " + RUNTIME + " with HIPRTC: install libamdhip64-5";
        }
    }

    @Test
    void theKernelsAreCompiledForAmdsArchitecturesAndErrorsHaveTheLog() throws IOException, InterruptedException {
        Require.backend("amdhip64", refusal());
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                CompileForAmd.class.getName(),
                RUNTIME,
                folder.toString()));
        command.addAll(ARCHITECTURES);
        Process compiler = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(compiler.waitFor()).as(printed).isZero();
        assertThat(printed).contains("hiprtcCompileProgram -> 6: ").contains("error");
        List<String> kernels = KERNEL.matcher(Kernels.source("compose.cu"))
                .results()
                .map(kernel -> kernel.group(1))
                .toList();
        assertThat(kernels).contains("maxima", "march", "brightest");
        for (String architecture : ARCHITECTURES) {
            byte[] code = Files.readAllBytes(folder.resolve(architecture));
            assertThat(code).startsWith(0x7f, 'E', 'L', 'F');
            String text = new String(code, StandardCharsets.ISO_8859_1);
            assertThat(text).contains("amdgcn-amd-amdhsa--" + architecture);
            assertThat(kernels).allSatisfy(kernel -> assertThat(text).contains(kernel + ".kd\0"));
            assertThat(code)
                    .as("without the option operations are fused, which rounds once for two")
                    .isNotEqualTo(Files.readAllBytes(folder.resolve(architecture + "-fused")));
        }
    }
}
