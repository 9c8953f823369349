// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.paths;

import io.penstock.Options;
import io.penstock.backend.gpu.file.FileMode;
import io.penstock.backend.hip.HipOptions;
import io.penstock.backend.hip.ffi.HipFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The libhipfile of this machine. Probing does not open its driver.
 *
 * @param problem why it cannot be used; empty if it can
 * @param files its table
 */
record HipFileLibrary(String problem, HipFile files) {

    /** Loads the library, if it is installed; the runtime must be loaded, on which it depends. */
    static HipFileLibrary find(Options options) {
        String problem = HipFile.load(options.get(HipOptions.LIBHIPFILE), options.get(HipOptions.ALLOW_COMPAT));
        return new HipFileLibrary(problem, HipFile.over(HipPlatform.runtime(options)));
    }

    /** Returns why it does not support a mode; empty if it does. */
    String whyNot(FileMode mode) {
        if (!problem.isEmpty()) {
            return "no libhipfile: " + problem;
        }
        Set<String> missing = new TreeSet<>(HipFile.core());
        missing.retainAll(HipFile.absent());
        if (!missing.isEmpty()) {
            return HipFile.file() + " is too old: it has no " + String.join(", ", missing);
        }
        return mode == FileMode.SYNC || files.hasBatchesAndStreams()
                ? ""
                : HipFile.file() + " is too old: hipFile " + version() + " cannot tell of the completion of batches,"
                        + " and its stream calls fall back; 0.5 is needed";
    }

    /** Returns why hipFile cannot go directly here, as far as is known without opening its driver; empty if it may. */
    String whyNotDirect() {
        String why = whyNot(FileMode.SYNC);
        if (!why.isEmpty()) {
            return why;
        }
        if ("true".equalsIgnoreCase(System.getenv("HIPFILE_FORCE_COMPAT_MODE"))) {
            return "hipFile is told to use POSIX calls (HIPFILE_FORCE_COMPAT_MODE)";
        }
        boolean isOverCuFile = files.version() < 0; // which reports itself what it reaches
        return isOverCuFile || files.hip().hasFileCalls() ? "" : files.words().notLoaded();
    }

    /** Returns a full description, one line each, for humans. */
    List<String> describe() {
        if (!problem.isEmpty()) {
            return List.of("libhipfile: none, " + problem + "; the staged path needs none");
        }
        List<String> lines = new ArrayList<>();
        lines.add("libhipfile: " + version() + ", " + HipFile.file());
        if (!HipFile.absent().isEmpty()) {
            lines.add("libhipfile lacks: " + String.join(", ", new TreeSet<>(HipFile.absent())));
        }
        String why = whyNotDirect();
        lines.add("hipFile direct: " + (why.isEmpty() ? "unknown until its driver is open" : "no, " + why));
        return lines;
    }

    private String version() {
        int version = files.version();
        return version < 0 ? "version unknown" : version / 1000 + "." + version % 1000 / 100 + "." + version % 100;
    }
}
