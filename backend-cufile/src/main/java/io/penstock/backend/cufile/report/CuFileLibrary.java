// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.report;

import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.backend.gpu.file.FileHandles;
import io.penstock.backend.gpu.file.FileMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The libcufile of this machine. Probing does not open its driver.
 *
 * @param problem why it cannot be used; empty if it can
 * @param configuration the administrator's configuration
 * @param nvidiaFs the path that exists when the nvidia-fs module is loaded
 */
public record CuFileLibrary(String problem, CuFileConfiguration configuration, Path nvidiaFs) {

    public static final Path NVIDIA_FS = Path.of("/proc/driver/nvidia-fs");

    private static final Set<String> ALWAYS_NEEDED = Set.of(
            "cuFileDriverOpen",
            "cuFileDriverClose",
            "cuFileDriverGetProperties",
            "cuFileHandleRegister",
            "cuFileHandleDeregister",
            "cuFileBufRegister",
            "cuFileBufDeregister",
            "cuFileRead",
            "cuFileWrite");

    private static final Set<String> NEEDED_BY_BATCHES =
            Set.of("cuFileBatchIOSetUp", "cuFileBatchIOSubmit", "cuFileBatchIOGetStatus", "cuFileBatchIODestroy");

    private static final Set<String> NEEDED_BY_STREAMS = Set.of("cuFileReadAsync", "cuFileWriteAsync");

    /** Opens files, and detects the storage under them and the kernel module that serves it. */
    @FunctionalInterface
    public interface Storages extends FileHandles.Storages {

        /** Returns the path that exists when the nvidia-fs module is loaded. */
        default Path nvidiaFs() {
            return NVIDIA_FS;
        }
    }

    /** Loads the library, if it is installed. */
    public static CuFileLibrary find(Options options) {
        return find(options, NVIDIA_FS);
    }

    /** As above, with another path for nvidia-fs. */
    public static CuFileLibrary find(Options options, Path nvidiaFs) {
        return new CuFileLibrary(
                CuFile.LIBRARY.load(options.get(CufileOptions.LIBCUFILE)), CuFileConfiguration.read(), nvidiaFs);
    }

    /** Returns why it does not support a mode; empty if it does. */
    public String whyNot(FileMode mode) {
        if (!problem.isEmpty()) {
            return "no libcufile: " + problem;
        }
        Set<String> missing = new TreeSet<>(ALWAYS_NEEDED);
        missing.addAll(
                switch (mode) {
                    case SYNC -> Set.of();
                    case BATCH -> NEEDED_BY_BATCHES;
                    case STREAM -> NEEDED_BY_STREAMS;
                });
        missing.retainAll(CuFile.LIBRARY.absent());
        return missing.isEmpty() ? "" : CuFile.LIBRARY.file() + " is too old: it has no " + String.join(", ", missing);
    }

    /**
     * Returns why cuFile cannot go directly here, as far as is known without opening its driver, which is slow; empty
     * if it may.
     */
    public String whyNotDirect() {
        String why = whyNot(FileMode.SYNC);
        if (!why.isEmpty()) {
            return why;
        }
        if (configuration.forcesCompatibility()) {
            return "cuFile is configured to use its POSIX mode (force_compat_mode)";
        }
        return Files.exists(nvidiaFs) || configuration.enablesP2pDma() ? "" : "nvidia-fs is not loaded";
    }

    /** Returns a full description, one line each, for humans. */
    public List<String> describe() {
        if (!problem.isEmpty()) {
            return List.of("libcufile: none, " + problem + "; staged and mapped paths need none");
        }
        List<String> lines = new ArrayList<>();
        lines.add("libcufile: " + version() + ", " + CuFile.LIBRARY.file());
        if (!CuFile.LIBRARY.absent().isEmpty()) {
            lines.add("libcufile lacks: " + String.join(", ", new TreeSet<>(CuFile.LIBRARY.absent())));
        }
        String why = whyNotDirect();
        lines.add("cuFile direct: " + (why.isEmpty() ? "unknown until its driver is open" : "no, " + why));
        FileDriver driver = FileDriver.find(CuFile.API);
        if (driver != null) {
            driver.properties().lines().forEach(line -> lines.add("cuFile's driver: " + line));
            driver.ignored()
                    .forEach(
                            option -> lines.add("cuFile's driver: reports success for " + option + ", but ignores it"));
            driver.leave();
        }
        DriverStatistics.read().describe().forEach(line -> lines.add("cuFile's counters: " + line));
        configuration.describe().forEach(line -> lines.add("cuFile's settings: " + line));
        return lines;
    }

    private static String version() {
        int[] version = new int[1];
        boolean reported = CuFile.error(CuFile.API.getVersion(version)) == CuFile.SUCCESS;
        return reported ? version[0] / 1000 + "." + version[0] % 1000 / 10 : "version unknown";
    }
}
