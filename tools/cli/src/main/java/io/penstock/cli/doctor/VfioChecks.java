// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import io.penstock.engine.kit.machine.KernelFiles;
import io.penstock.engine.kit.machine.PciDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the backend {@code nvme} needs beside a controller: VFIO's modules, and an IOMMU group without devices of the
 * kernel.
 */
public final class VfioChecks {

    private static final String TOPIC = "vfio";
    private static final String DRIVER = "vfio-pci";
    private static final String DEVICES = "/sys/bus/pci/devices/";

    private VfioChecks() {}

    /** Returns findings about VFIO and each NVMe controller; none without a controller. */
    public static List<Finding> of(KernelFiles machine) {
        List<PciDevice> all = PciDevice.all(machine);
        List<Finding> findings = new ArrayList<>();
        for (PciDevice device : all) {
            if (device.isNvme()) {
                findings.add(controller(machine, device, all));
            }
        }
        if (!findings.isEmpty()) {
            boolean byIommufd = all.stream().anyMatch(device -> device.isNvme() && hasIommufd(machine, device));
            findings.add(0, modules(machine, byIommufd));
        }
        return findings;
    }

    private static Finding modules(KernelFiles machine, boolean byIommufd) {
        List<String> missing = new ArrayList<>();
        if (!machine.exists("/sys/bus/pci/drivers/" + DRIVER)) {
            missing.add(DRIVER);
        }
        if (!byIommufd && !machine.exists("/sys/module/vfio_iommu_type1")) {
            missing.add("vfio_iommu_type1");
        }
        return missing.isEmpty()
                ? Finding.ok(TOPIC, "VFIO's modules are loaded")
                : Finding.note(
                        TOPIC,
                        "VFIO's modules are not loaded: " + String.join(", ", missing),
                        "the backend nvme opens controllers by VFIO; no other backend needs it",
                        "modprobe " + String.join("; modprobe ", missing));
    }

    private static Finding controller(KernelFiles machine, PciDevice device, List<PciDevice> all) {
        String driver = device.driver().orElse("none");
        Optional<String> group = device.iommuGroup();
        String what = device + ": driver " + driver
                + group.map(number -> ", IOMMU group " + number).orElse(", no IOMMU group")
                + (hasIommufd(machine, device) ? ", iommufd" : "");
        if (group.isEmpty()) {
            return Finding.note(
                    TOPIC,
                    what,
                    "VFIO lends a device only where an IOMMU translates its addresses",
                    "switch the IOMMU on in the firmware, and on Intel by intel_iommu=on on the kernel's command line");
        }
        List<String> others = all.stream()
                .filter(other -> !other.address().equals(device.address()) && !other.isBridge())
                .filter(other -> other.iommuGroup().equals(group))
                .filter(other -> other.driver().filter(name -> !isOfVfio(name)).isPresent())
                .map(other ->
                        other.address() + " of the driver " + other.driver().orElse(""))
                .toList();
        if (others.isEmpty()) {
            return Finding.ok(TOPIC, what);
        }
        String shared = what + ", with " + String.join(", ", others);
        String why = "VFIO lends a group as a whole: the kernel must not use another device of it";
        String remedy = "bind those to " + DRIVER + " too, or use a slot of another group";
        return driver.equals(DRIVER)
                ? Finding.warning(TOPIC, shared, why, remedy)
                : Finding.note(TOPIC, shared, why, remedy);
    }

    /**
     * Returns whether a driver lends its device, as the variants of VFIO's for some adapters do, or leaves it alone.
     */
    private static boolean isOfVfio(String driver) {
        return driver.contains("vfio") || driver.equals("pci-stub");
    }

    /**
     * Returns whether there is what the backend opens a controller by without its group: as {@code PciDevice} of the
     * backend finds it.
     */
    private static boolean hasIommufd(KernelFiles machine, PciDevice device) {
        return machine.exists("/dev/iommu")
                && machine.names(DEVICES + device.address() + "/vfio-dev").stream()
                        .anyMatch(name -> machine.exists("/dev/vfio/devices/" + name));
    }
}
