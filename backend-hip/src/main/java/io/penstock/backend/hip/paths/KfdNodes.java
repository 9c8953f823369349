// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.paths;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the kernel's driver for computing (amdkfd) shows of GPUs, as {@code rocminfo} prints it; without a runtime, and
 * for users who may not open {@code /dev/kfd}.
 */
final class KfdNodes {

    private static final Path TOPOLOGY = Path.of("/sys/class/kfd/kfd/topology/nodes");

    private KfdNodes() {}

    /** Returns the GPUs of this machine; empty if the kernel shows none. */
    static List<String> gpus() {
        return describe().stream().filter(line -> line.startsWith("KFD node")).toList();
    }

    /** Returns a line for each GPU of this machine, or why there is none. */
    static List<String> describe() {
        return describe(TOPOLOGY);
    }

    /** As above, from another folder. */
    static List<String> describe(Path topology) {
        Map<Integer, String> lines = new TreeMap<>();
        try (DirectoryStream<Path> nodes = Files.newDirectoryStream(topology)) {
            for (Path node : nodes) {
                Map<String, Long> properties = properties(node.resolve("properties"));
                if (properties.getOrDefault("simd_count", 0L) > 0) { // else it is a processor
                    int number = Integer.parseInt(node.getFileName().toString());
                    lines.put(number, "KFD node " + number + ": " + describe(node, properties));
                }
            }
        } catch (IOException | NumberFormatException e) {
            return List.of("KFD: " + topology + " cannot be read; the amdgpu driver is not loaded, or hidden here");
        }
        return lines.isEmpty() ? List.of("KFD: the kernel shows no GPU") : new ArrayList<>(lines.values());
    }

    private static String describe(Path node, Map<String, Long> properties) throws IOException {
        long version = properties.getOrDefault("gfx_target_version", 0L);
        long simds = properties.getOrDefault("simd_per_cu", 1L);
        long location = properties.getOrDefault("location_id", 0L);
        String bus = String.format(
                "%04x:%02x:%02x.%x",
                properties.getOrDefault("domain", 0L), location >> 8 & 0xff, location >> 3 & 0x1f, location & 7);
        return "gfx" + version / 10_000 + version / 100 % 100 + Long.toHexString(version % 100) + ", "
                + properties.getOrDefault("simd_count", 0L) / Math.max(1, simds) + " compute units, "
                + (memoryBytes(node.resolve("mem_banks")) >> 20) + " MiB visible to peers, PCI " + bus;
    }

    /** Memory of type 1 is reached through the BAR by peers, memory of type 2 is not. */
    private static long memoryBytes(Path banks) throws IOException {
        long bytes = 0;
        if (Files.isDirectory(banks)) {
            try (DirectoryStream<Path> each = Files.newDirectoryStream(banks)) {
                for (Path bank : each) {
                    Map<String, Long> properties = properties(bank.resolve("properties"));
                    bytes += properties.getOrDefault("heap_type", 0L) == 1
                            ? properties.getOrDefault("size_in_bytes", 0L)
                            : 0;
                }
            }
        }
        return bytes;
    }

    private static Map<String, Long> properties(Path file) throws IOException {
        Map<String, Long> properties = new HashMap<>();
        if (Files.isReadable(file)) {
            for (String line : Files.readAllLines(file)) {
                String[] parts = line.strip().split(" ");
                if (parts.length == 2 && parts[1].matches("\\d{1,18}")) {
                    properties.put(parts[0], Long.valueOf(parts[1]));
                }
            }
        }
        return properties;
    }
}
