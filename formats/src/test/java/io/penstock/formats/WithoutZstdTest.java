// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process whose temporary folder takes no library of zstd-jni, as one that is mounted noexec. */
class WithoutZstdTest {

    /** Also the second time: the class that loads it has failed then. */
    @Test
    void aLibraryThatCannotBeLoadedIsToldWithTheRemedy(@TempDir Path folder) throws Exception {
        Path none = Files.createFile(folder.resolve("no-folder"));
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-DZstdTempFolder=" + none,
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        WithoutZstdTest.class.getName(),
                        Real.file("arrow/java-zstd.arrow").toAbsolutePath().toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        for (String time : new String[] {"first", "second"}) {
            assertThat(output.lines().filter(line -> line.startsWith(time)))
                    .singleElement()
                    .asString()
                    .startsWith(
                            time + ": java.lang.IllegalArgumentException: array 0/i8/validity is compressed by zstd,"
                                    + " which needs com.github.luben:zstd-jni, which cannot be loaded (java.lang.")
                    .endsWith("): set -DZstdTempFolder to a folder that allows execution");
        }
        assertThat(output).doesNotContain("jvm fatal");
    }

    /** Loads a file, twice. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host")) {
            for (String time : new String[] {"first", "second"}) {
                try {
                    Loader.of(backend).load(Path.of(arguments[0])).block();
                } catch (RuntimeException e) {
                    System.out.println(time + ": " + e);
                }
            }
        }
    }
}
