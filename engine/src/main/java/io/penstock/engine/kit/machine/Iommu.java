// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.machine;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the IOMMU does with the addresses of devices.
 *
 * @param isOn whether there is one
 * @param passes whether devices see the addresses of memory itself
 * @param types of the domains, as the kernel names them; empty if it does not
 */
public record Iommu(boolean isOn, boolean passes, Set<String> types) {

    private static final String GROUPS = "/sys/kernel/iommu_groups/";

    /** Returns what it does with the addresses of all devices. */
    public static Iommu of(KernelFiles machine) {
        return of(machine, machine.names(GROUPS).stream().map(group -> GROUPS + group));
    }

    /** Returns what it does with the addresses of these devices; of all devices, if none of these has a group. */
    public static Iommu of(KernelFiles machine, List<PciDevice> devices) {
        List<String> groups =
                devices.stream().flatMap(device -> device.iommuGroup().stream()).toList();
        return groups.isEmpty() ? of(machine) : of(machine, groups.stream().map(group -> GROUPS + group));
    }

    /** Returns what it does with the addresses of one. */
    static Iommu of(KernelFiles machine, PciDevice device) {
        Optional<String> group = device.iommuGroup();
        return group.isEmpty() ? new Iommu(false, false, Set.of()) : of(machine, Stream.of(GROUPS + group.get()));
    }

    private static Iommu of(KernelFiles machine, Stream<String> groups) {
        Set<String> types = groups.flatMap(group -> machine.text(group + "/type").stream())
                .collect(Collectors.toCollection(TreeSet::new));
        boolean passes = types.isEmpty()
                ? machine.text("/proc/cmdline").orElse("").contains("iommu=pt")
                : types.equals(Set.of("identity"));
        return new Iommu(!machine.names("/sys/class/iommu").isEmpty(), passes, types);
    }

    /** Returns whether devices see other addresses than the memory's own. */
    public boolean translates() {
        return isOn && !passes;
    }

    @Override
    public String toString() {
        return !isOn ? "the IOMMU is off" : passes ? "the IOMMU passes through" : "the IOMMU translates " + types;
    }
}
