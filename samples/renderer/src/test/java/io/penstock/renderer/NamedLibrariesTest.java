// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * The renderer calls the library that an option of the backend names. By its name alone another one is found, which has
 * none of its functions. In a process of its own, since a process loads a library once.
 */
@EnabledOnOs(OS.LINUX)
@Tag("slow")
class NamedLibrariesTest {

    @TempDir
    Path folder;

    private void assertDraws(String backend, String mark, String option, String library, List<String> names)
            throws IOException, InterruptedException {
        Backends.list().stream()
                .filter(listing -> listing.name().equals(backend))
                .forEach(listing -> Require.backend(mark, listing.availability()));
        Path others = Files.createDirectories(folder.resolve("others"));
        for (String name : names) {
            Files.copy(loaded("libm"), others.resolve(name));
        }
        Path said = folder.resolve("said");
        Path picture = folder.resolve("picture.png");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        "-Djna.library.path=" + others,
                        "-D" + option + "=" + loaded(library),
                        "io.penstock.cli.Penstock",
                        "render",
                        "--backend",
                        backend,
                        "--view",
                        "z",
                        "--out",
                        picture.toString())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        int code = process.waitFor();
        assertThat(code).as(Files.readString(said, StandardCharsets.UTF_8)).isZero();
        assertThat(picture).isNotEmptyFile();
    }

    /** Returns the file of a library that this process has loaded. */
    private static Path loaded(String name) throws IOException {
        String maps = Files.readString(Path.of("/proc/self/maps"));
        return Pattern.compile("/.*/" + name + "[.-].*")
                .matcher(maps)
                .results()
                .map(MatchResult::group)
                .map(Path::of)
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is not loaded"));
    }

    @Test
    void openClIsTheLibraryThatIsNamed() throws Exception {
        assertDraws("opencl-ssg", "opencl", "penstock.opencl.library", "libOpenCL", List.of("libOpenCL.so.1"));
    }

    @Test
    void openGlIsTheLibraryThatIsNamed() throws Exception {
        assertDraws("gl", "gl", "penstock.gl.libgl", "lib(?:Open)?GL", List.of("libOpenGL.so.0", "libGL.so.1"));
    }
}
