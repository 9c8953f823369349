// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.fakes;

import static io.penstock.engine.testing.CompiledFakes.command;
import static io.penstock.engine.testing.CompiledFakes.run;

import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import io.penstock.backend.gpu.file.KeptDriver;
import io.penstock.backend.hip.ffi.HipFile;
import io.penstock.backend.hip.ffi.LoadedHipFile;
import io.penstock.engine.testing.CompiledFakes;
import io.penstock.engine.testing.FakeControl;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The double of {@code libamdhip64.so.7} and {@code libhipfile.so.0}: where they are, and their controls. Behind them are
 * the simulated GPU and the file library of backend-cufile's fakes, which count calls by their names.
 */
public final class HipDouble {

    /** What {@code PENSTOCK_REQUIRE} calls what needs a C compiler and Linux. */
    public static final String NAME = "fakes";

    /** A version of HIP, as it reports it. */
    public static final int HIP_7_2 = 70_200_000;

    private static final int RTLD_LAZY = 1;

    private HipDouble() {}

    /** Built and loaded once, or the reason why not. */
    private static final class Built {
        static final @Nullable String UNAVAILABLE = CompiledFakes.unavailable();
        static final Path FOLDER;
        static final @Nullable FakeControl GPU;
        static final @Nullable FakeControl FILES;

        static {
            if (UNAVAILABLE == null) {
                try {
                    FOLDER = libraries();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                GPU = new FakeControl(FOLDER.resolve("libcuda.so.1"));
                FILES = new FakeControl(FOLDER.resolve("libcufile.so.0"));
            } else {
                FOLDER = Path.of("");
                GPU = null;
                FILES = null;
            }
        }
    }

    private static Path libraries() throws IOException {
        CompiledFakes ours = new CompiledFakes("backend-hip");
        CompiledFakes behind = new CompiledFakes("backend-cufile");
        return ours.folder("libraries", List.of("-O1", "-DBEHIND=" + checksum(behind.sources())), (folder, flags) -> {
            compile(
                    behind.library(
                            folder.resolve("libcuda.so.1"),
                            flags,
                            behind.sources().resolve("cuda")),
                    "0x1000",
                    behind);
            List<String> files = behind.library(
                    folder.resolve("libcufile.so.0"), flags, behind.sources().resolve("cufile"));
            files.addAll(List.of("-L" + folder, "-l:libcuda.so.1", "-Wl,-rpath,$ORIGIN"));
            compile(files, "0x200000", behind);
            List<String> compiler = command(flags, folder.resolve("libnvrtc.so.13"));
            compiler.addAll(List.of("-fPIC", "-shared", "-Wl,-soname,libnvrtc.so.13"));
            compiler.add(behind.sources().resolve("nvrtc/nvrtc.c").toString());
            run(compiler);
            front(folder, flags, "libamdhip64.so.7", ours.sources().resolve("hip/hip.c"), "libcuda.so.1");
            front(
                    folder,
                    flags,
                    "libhipfile.so.0",
                    ours.sources().resolve("hipfile/hipfile.c"),
                    "libcufile.so.0",
                    "libamdhip64.so.7");
            front(folder, flags, "libhiprtc.so.7", ours.sources().resolve("hiprtc/hiprtc.c"), "libnvrtc.so.13");
        });
    }

    private static void compile(List<String> command, String handlesFrom, CompiledFakes behind) throws IOException {
        command.add(behind.sources().resolve("handles.c").toString());
        command.add("-DHANDLES_FROM=" + handlesFrom);
        run(command);
    }

    private static void front(Path folder, List<String> flags, String name, Path source, String... behind)
            throws IOException {
        List<String> command = command(flags, folder.resolve(name));
        command.addAll(List.of("-fPIC", "-shared", "-Wl,-Bsymbolic", "-Wl,-soname," + name, source.toString()));
        command.addAll(List.of("-L" + folder, "-Wl,-rpath,$ORIGIN", "-Wl,-rpath-link," + folder));
        for (String library : behind) {
            command.add("-l:" + library);
        }
        run(command);
    }

    private static long checksum(Path folder) throws IOException {
        CRC32 sum = new CRC32();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                sum.update(Files.readAllBytes(file));
            }
        }
        return sum.getValue();
    }

    /** Skips the test with the reason unless the double can be built here. */
    public static void require() {
        Require.backend(NAME, Built.UNAVAILABLE);
    }

    /** Returns the file of the runtime, for option {@code penstock.hip.libamdhip64}. */
    public static Path libamdhip64() {
        require();
        return Built.FOLDER.resolve("libamdhip64.so.7");
    }

    /** Returns the file of libhipfile, for option {@code penstock.hip.libhipfile}. */
    public static Path libhipfile() {
        require();
        return Built.FOLDER.resolve("libhipfile.so.0");
    }

    /** Returns the file of the CUDA driver behind, for {@code penstock.hip.runtime=cuda}. */
    public static Path libcuda() {
        require();
        return Built.FOLDER.resolve("libcuda.so.1");
    }

    /** Returns the control of the simulated GPU. */
    public static FakeControl gpu() {
        require();
        return loaded(Built.GPU);
    }

    /** Returns the control of the file library behind hipFile. */
    public static FakeControl files() {
        require();
        return loaded(Built.FILES);
    }

    private static FakeControl loaded(@Nullable FakeControl control) {
        if (control == null) {
            throw new IllegalStateException("the double is not loaded");
        }
        return control;
    }

    /** Sets the version that the runtime reports, and whether it has the calls of hipFile's fast path. */
    public static void runtime(int version, boolean fileCalls) {
        library(libamdhip64()).getFunction("hip_double_set").invoke(new Object[] {version, fileCalls ? 1 : 0});
    }

    /** Sets the version 0.{@code minor} of hipFile, and whether it falls back. */
    public static void hipFile(int minor, boolean fallsBack) {
        library(libhipfile()).getFunction("hipfile_double_set").invoke(new Object[] {minor, fallsBack ? 1 : 0});
        LoadedHipFile.allowsCompat(fallsBack);
    }

    /** Returns a variable of the process as libraries read it. */
    public static String environment(String name) {
        return NativeLibrary.getInstance("c").getFunction("getenv").invokeString(new Object[] {name}, false);
    }

    /** Returns one of the two, for calls by name. */
    public static NativeLibrary library(Path file) {
        return NativeLibrary.getInstance(file.toString(), Map.of(Library.OPTION_OPEN_FLAGS, RTLD_LAZY));
    }

    /** Resets everything, as if the process had not called it. */
    public static void reset() {
        HipFile.load(libhipfile().toString(), true); // so that what follows is not overwritten by the first use
        runtime(HIP_7_2, true);
        hipFile(5, true);
        library(libhipfile()).getFunction("hipfile_double_forget").invoke(new Object[0]);
        files().reset();
        gpu().reset();
        files().reset();
        KeptDriver.forget();
    }

    /** Returns the first complaint of either. */
    public static Optional<String> complaint() {
        return gpu().complaint().or(files()::complaint);
    }
}
