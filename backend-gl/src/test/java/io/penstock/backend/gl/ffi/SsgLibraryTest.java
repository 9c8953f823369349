// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import io.penstock.Option;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.engine.kit.ffi.VendorLibrary;
import io.penstock.engine.testing.ClassPath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * The vendor's library stays as long as its functions can be called; in a JVM of its own, since a process has one set
 * of them.
 */
class SsgLibraryTest {

    private static final int MOST_COLLECTIONS = 1000;

    @TempDir
    Path folder;

    @Test
    void theLibraryOfTheFunctionsIsNotUnloaded() throws IOException, InterruptedException {
        Path kept = Files.copy(SsgFake.file(), folder.resolve("kept.so"));
        Path let = Files.copy(SsgFake.file(), folder.resolve("let-go.so"));
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-cp",
                        classPath(),
                        SsgLibraryTest.class.getName(),
                        kept.toString(),
                        let.toString())
                .redirectErrorStream(true)
                .start();
        child.getOutputStream().close();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(said).isZero();
        assertThat(said.lines()).last().isEqualTo("kept: true, let go: false");
    }

    private static String classPath() {
        return ClassPath.of(
                SsgLibraryTest.class,
                Ssg.class,
                Gl.class,
                VendorLibrary.class,
                Option.class,
                NativeLibrary.class,
                LoggerFactory.class);
    }

    /** Says which of two libraries are mapped once JNA has unloaded the second. */
    public static void main(String[] files) throws IOException {
        check(Gl.load("libOpenGL.so.0"));
        check(Ssg.load(files[0]));
        open(files[1]);
        for (int i = 0; i < MOST_COLLECTIONS && isMapped(files[1]); i++) {
            System.gc();
            Thread.onSpinWait();
        }
        System.out.println("kept: " + isMapped(files[0]) + ", let go: " + isMapped(files[1]));
    }

    private static void check(String refusal) {
        if (!refusal.isEmpty()) {
            throw new IllegalStateException(refusal);
        }
    }

    private static void open(String file) {
        NativeLibrary library = NativeLibrary.getInstance(file);
        check(library.getFunction("glReadFileAMD").getName().isEmpty() ? "no name" : "");
    }

    private static boolean isMapped(String file) throws IOException {
        return Files.readString(Path.of("/proc/self/maps")).contains(file);
    }
}
