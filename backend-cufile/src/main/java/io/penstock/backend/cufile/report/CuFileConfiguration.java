// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The administrator's cuFile configuration: {@code cufile.json} and the variables {@code CUFILE_*}. libcufile reads
 * both by itself; this is for reports, and for estimates that must not open its driver.
 *
 * @param file the file that libcufile reads, existing or not
 * @param problem why the file was not read; empty if it was
 * @param values the values in the file, by dotted name
 * @param variables the environment variables
 */
public record CuFileConfiguration(
        Path file, String problem, Map<String, String> values, Map<String, String> variables) {

    private static final Path USUAL = Path.of("/etc/cufile.json");
    private static final String PREFIX = "CUFILE_";

    /** Reads the configuration of this process. */
    static CuFileConfiguration read() {
        return read(System.getenv(), USUAL);
    }

    /** As above, for another environment. */
    public static CuFileConfiguration read(Map<String, String> environment, Path usual) {
        Map<String, String> variables = new TreeMap<>(environment);
        variables.keySet().removeIf(name -> !name.startsWith(PREFIX));
        String named = variables.get("CUFILE_ENV_PATH_JSON");
        Path file;
        try {
            file = named == null ? usual : Path.of(named);
        } catch (InvalidPathException e) { // libcufile takes its bytes, of which this locale may have no characters
            String problem = "is not read, but CUFILE_ENV_PATH_JSON, which is no path in this locale";
            return new CuFileConfiguration(usual, problem, Map.of(), variables);
        }
        try {
            return new CuFileConfiguration(file, "", JsonWithComments.read(Files.readString(file)), variables);
        } catch (IOException | IllegalArgumentException e) {
            String problem = Files.exists(file) ? "cannot be read: " + e.getMessage() : "does not exist";
            return new CuFileConfiguration(file, problem + ": libcufile uses its own settings", Map.of(), variables);
        }
    }

    /** Returns true if it enables the kernel's own peer-to-peer DMA, which does not need nvidia-fs. */
    boolean enablesP2pDma() {
        return isTrue(variables.get("CUFILE_USE_PCIP2PDMA")) || isTrue(values.get("properties.use_pci_p2pdma"));
    }

    /** Returns true if it disables direct paths in any case. */
    boolean forcesCompatibility() {
        return isTrue(variables.get("CUFILE_FORCE_COMPAT_MODE")) || isTrue(values.get("properties.force_compat_mode"));
    }

    private static boolean isTrue(@Nullable String value) {
        return value != null && (value.equalsIgnoreCase("true") || value.equals("1"));
    }

    /** Returns a full description, one line each, for humans. */
    List<String> describe() {
        List<String> lines = new ArrayList<>();
        lines.add(file + (problem.isEmpty() ? "" : " " + problem));
        values.forEach((name, value) -> lines.add("  " + name + " = " + value));
        variables.forEach((name, value) -> lines.add(name + "=" + value));
        return lines;
    }
}
