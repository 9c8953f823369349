// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import io.penstock.engine.kit.machine.KernelFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The vendors of OpenCL and EGL, and who may open the devices. */
public final class GraphicsChecks {

    private static final String VENDORS = "/etc/OpenCL/vendors";
    private static final String LINKER_CACHE = "/etc/ld.so.cache";
    private static final Pattern CACHED =
            Pattern.compile("(/[^\\00]+)/[^/\\00]+\\00"); // paths, each with a zero byte behind
    private static final List<String> EGL = List.of("/etc/glvnd/egl_vendor.d", "/usr/share/glvnd/egl_vendor.d");

    private GraphicsChecks() {}

    /** Returns findings about what is installed. */
    public static List<Finding> of(KernelFiles machine) {
        List<Finding> findings = new ArrayList<>();
        for (String vendor : machine.names(VENDORS)) {
            if (vendor.endsWith(".icd")) { // the loader reads no others
                machine.text(VENDORS + "/" + vendor)
                        .ifPresent(library -> findings.add(openCl(machine, vendor, library)));
            }
        }
        List<String> egl = EGL.stream()
                .flatMap(folder -> machine.names(folder).stream())
                .filter(name -> name.endsWith(".json"))
                .toList();
        if (!egl.isEmpty()) {
            findings.add(Finding.ok("opengl", "EGL's vendors: " + String.join(", ", egl)));
        }
        for (String name : machine.names("/dev/dri")) {
            if (name.startsWith("renderD")) {
                access(machine, "/dev/dri/" + name, "render", findings);
            }
        }
        access(machine, "/dev/kfd", "render", findings);
        return findings;
    }

    private static Finding openCl(KernelFiles machine, String vendor, String file) {
        String library = file.lines().findFirst().orElse(""); // the loader reads no more
        String what = "OpenCL's vendor " + vendor + (library.isBlank() ? " names no library" : ": " + library);
        if (isFound(machine, library)) {
            return Finding.ok("opencl", what);
        }
        return Finding.warning(
                "opencl",
                what + (library.isBlank() ? "" : ", which is not there"),
                "the loader omits its devices without a message",
                "install the vendor's driver again, or remove " + VENDORS + "/" + vendor);
    }

    private static boolean isFound(KernelFiles machine, String library) {
        if (library.isBlank() || library.startsWith("/")) {
            return !library.isBlank() && machine.exists(library);
        }
        Set<String> folders = linkerFolders(machine);
        return folders.isEmpty() || folders.stream().anyMatch(folder -> machine.exists(folder + "/" + library));
    }

    /**
     * Returns the folders of libraries in the dynamic linker's cache; none if it has no cache, or more folders than
     * those.
     */
    private static Set<String> linkerFolders(KernelFiles machine) {
        if (machine.text("/proc/self/environ").orElse("").contains("LD_LIBRARY_PATH=")) {
            return Set.of();
        }
        String cache = machine.bytes(LINKER_CACHE)
                .map(bytes -> new String(bytes, StandardCharsets.ISO_8859_1))
                .orElse("");
        return CACHED.matcher(cache).results().map(path -> path.group(1)).collect(Collectors.toSet());
    }

    private static void access(KernelFiles machine, String device, String group, List<Finding> findings) {
        if (machine.exists(device) && !Files.isWritable(machine.path(device))) {
            findings.add(Finding.warning(
                    "access",
                    device + " cannot be opened by this user",
                    "the GPU is not found, or only as a software device",
                    "usermod -aG " + group + " USER, and log in again; docker run --device " + device));
        }
    }
}
