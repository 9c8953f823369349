// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.machine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A GPU as the kernel's driver for computing (amdkfd) shows it, and {@code rocminfo} prints it; without a runtime, and
 * for users who may not open {@code /dev/kfd}.
 *
 * @param node its number among the nodes, of which processors have the first
 * @param target what compilers call it, such as {@code gfx90a}
 * @param waveFront how many work-items run in step
 * @param visibleBytes memory that peers reach, through the BAR
 * @param hiddenBytes memory that they do not
 * @param linked the nodes of other GPUs to which it has an xGMI link
 */
public record KfdGpu(
        int node,
        String target,
        long computeUnits,
        long waveFront,
        long visibleBytes,
        long hiddenBytes,
        String address,
        List<Long> linked) {

    /** Where the kernel shows the nodes. */
    public static final String NODES = "/sys/class/kfd/kfd/topology/nodes";

    private static final long PUBLIC = 1; // HSA_MEM_HEAP_TYPE_FB_PUBLIC
    private static final long PRIVATE = 2;
    private static final long XGMI = 11; // CRAT_IOLINK_TYPE_XGMI

    /** Returns the GPUs of a machine; none without the driver. */
    public static List<KfdGpu> all(KernelFiles machine) {
        List<KfdGpu> gpus = new ArrayList<>();
        for (String name : machine.names(NODES)) {
            String node = NODES + "/" + name;
            Map<String, Long> properties = properties(machine, node);
            if (name.matches("\\d{1,9}") && of(properties, "simd_count", 0) > 0) { // else it is a processor
                gpus.add(of(machine, node, Integer.parseInt(name), properties));
            }
        }
        gpus.sort((one, other) -> Integer.compare(one.node, other.node));
        return gpus;
    }

    private static KfdGpu of(KernelFiles machine, String node, int number, Map<String, Long> properties) {
        long version = of(properties, "gfx_target_version", 0);
        long location = of(properties, "location_id", 0);
        List<Map<String, Long>> banks = parts(machine, node + "/mem_banks");
        return new KfdGpu(
                number,
                "gfx" + version / 10_000 + version / 100 % 100 + Long.toHexString(version % 100),
                of(properties, "simd_count", 0) / Math.max(1, of(properties, "simd_per_cu", 1)),
                of(properties, "wave_front_size", 0),
                bytes(banks, PUBLIC),
                bytes(banks, PRIVATE),
                String.format(
                        "%04x:%02x:%02x.%x",
                        of(properties, "domain", 0), location >> 8 & 0xff, location >> 3 & 0x1f, location & 7),
                parts(machine, node + "/io_links").stream()
                        .filter(link -> of(link, "type", 0) == XGMI)
                        .map(link -> of(link, "node_to", 0))
                        .toList());
    }

    private static long bytes(List<Map<String, Long>> banks, long heap) {
        return banks.stream()
                .filter(bank -> of(bank, "heap_type", 0) == heap)
                .mapToLong(bank -> of(bank, "size_in_bytes", 0))
                .sum();
    }

    private static List<Map<String, Long>> parts(KernelFiles machine, String folder) {
        return machine.names(folder).stream()
                .map(part -> properties(machine, folder + "/" + part))
                .toList();
    }

    private static Map<String, Long> properties(KernelFiles machine, String folder) {
        Map<String, Long> properties = new HashMap<>();
        machine.text(folder + "/properties").orElse("").lines().forEach(line -> {
            String[] parts = line.strip().split(" ");
            if (parts.length == 2) {
                KernelFiles.number(parts[1]).ifPresent(value -> properties.put(parts[0], value));
            }
        });
        return properties;
    }

    private static long of(Map<String, Long> properties, String name, long otherwise) {
        return properties.getOrDefault(name, otherwise);
    }

    /** Returns one line for humans. */
    @Override
    public String toString() {
        return "KFD node " + node + ": " + target + ", " + computeUnits + " compute units"
                + (waveFront > 0 ? ", wavefronts of " + waveFront : "") + ", " + (visibleBytes >> 20)
                + " MiB visible to peers" + (hiddenBytes > 0 ? " and " + (hiddenBytes >> 20) + " that are not" : "")
                + ", PCI " + address
                + (linked.isEmpty()
                        ? ""
                        : linked.stream()
                                .map(String::valueOf)
                                .collect(Collectors.joining(", ", ", xGMI to node ", "")));
    }
}
