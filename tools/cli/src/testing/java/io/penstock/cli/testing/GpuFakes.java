// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.testing;

import com.sun.jna.Function;
import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import io.penstock.Backends;
import io.penstock.tck.Require;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A GPU made of host memory, which the tests of backend-cufile have built; for AMD, the tests of backend-hip. */
public final class GpuFakes {

    private GpuFakes() {}

    /** Lets the backend and the commands find the fakes, or skips the test with the reason. */
    public static void find() throws IOException {
        Path fakes = built("backend-cufile");
        System.setProperty("penstock.cufile.libcuda", fakes + "/libcuda.so.1");
        System.setProperty("penstock.cufile.libcufile", fakes + "/libcufile.so.0");
        // For what is called by name only: the folder of the fakes, behind one with another driver, which knows nothing
        // of the backend's memory.
        Path other = Files.createDirectories(fakes.resolve("other"));
        Files.copy(fakes.resolve("libcuda.so.1"), other.resolve("libcuda.so.1"), StandardCopyOption.REPLACE_EXISTING);
        System.setProperty("jna.library.path", other + File.pathSeparator + fakes);
        // Where a test before this one has found a real driver, the process keeps that.
        Backends.list().stream()
                .filter(listing -> listing.name().equals("cufile"))
                .forEach(listing -> Require.backend("fakes", listing.availability()));
    }

    /** Returns the folder of the doubles of HIP, for another process: this one may have loaded the real runtime. */
    public static Path hip() throws IOException {
        return built("backend-hip");
    }

    public static void forget() {
        System.clearProperty("penstock.cufile.libcuda");
        System.clearProperty("penstock.cufile.libcufile");
        System.clearProperty("jna.library.path");
    }

    /** Lets the {@code nth} next call of a CUDA function answer {@code code}. */
    public static void fail(String function, long nth, long code) {
        cuda("fake_fail").invokeVoid(new Object[] {function, nth, code, 0L});
    }

    /** Returns how many of a kind the fake of the driver has. */
    public static long live(String kind) {
        return cuda("fake_live").invokeLong(new Object[] {kind});
    }

    private static Function cuda(String control) {
        // With an option: without any, JNA would find this one by its name, too.
        return NativeLibrary.getInstance(
                        System.getProperty("penstock.cufile.libcuda"), Map.of(Library.OPTION_OPEN_FLAGS, 1))
                .getFunction(control);
    }

    private static Path built(String module) throws IOException {
        Path built = Path.of(System.getProperty("basedir", ""))
                .toAbsolutePath()
                .resolve("../../" + module + "/target/fakes");
        Optional<Path> newest = Optional.empty();
        if (Files.isDirectory(built)) {
            try (Stream<Path> folders = Files.list(built)) {
                newest = folders.filter(folder -> folder.getFileName().toString().startsWith("libraries-"))
                        .max(Comparator.comparing(folder -> folder.toFile().lastModified()));
            }
        }
        Require.backend("fakes", newest.isPresent() ? null : "no fakes in " + built + ": run the tests of " + module);
        return newest.orElseThrow();
    }
}
