// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * An NVMe controller as sysfs shows it.
 *
 * @param address domain, bus, device and function, such as {@code 0000:04:00.0}
 * @param driver the driver that it is bound to; empty if none
 * @param group its IOMMU group; -1 if there is no IOMMU
 * @param mounts where its partitions are mounted, or used otherwise, by the kernel
 */
record PciDevice(String address, String driver, int group, List<String> mounts) {

    private static final String NVME_CLASS = "0x010802";
    private static final Path DEVICES = Path.of("sys/bus/pci/devices");

    /** The driver that lends devices to processes. */
    static final String VFIO = "vfio-pci";

    /** Returns the NVMe controllers of the machine; {@code root} is {@code /}, unless for tests. */
    static List<PciDevice> controllers(Path root) {
        try (Stream<Path> devices = Files.list(root.resolve(DEVICES))) {
            return devices.filter(device -> text(device.resolve("class")).equals(NVME_CLASS))
                    .sorted()
                    .map(device -> of(root, device))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of(); // no PCI bus, or a sandbox without sysfs
        }
    }

    /** Returns the NVMe controller at an address, if there is one. */
    static Optional<PciDevice> find(Path root, String address) {
        return controllers(root).stream()
                .filter(device -> device.address.equals(address))
                .findFirst();
    }

    private static PciDevice of(Path root, Path device) {
        String group = target(device.resolve("iommu_group"));
        return new PciDevice(
                device.getFileName().toString(),
                target(device.resolve("driver")),
                group.isEmpty() ? -1 : Integer.parseInt(group),
                mounts(root, device));
    }

    /** Looks for mounted partitions of the block devices below the device. */
    private static List<String> mounts(Path root, Path device) {
        List<String> numbers;
        try (Stream<Path> below = Files.find(
                device, 6, (path, attributes) -> path.getFileName().toString().equals("dev"))) {
            numbers = below.map(PciDevice::text).toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
        return text(root.resolve("proc/self/mountinfo"))
                .lines()
                .map(line -> line.split(" "))
                .filter(fields -> fields.length > 4 && numbers.contains(fields[2]))
                .map(fields -> fields[4])
                .toList();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).getFileName().toString();
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns why this process cannot drive it; empty if it can, as far as sysfs tells. */
    String refusal() {
        if (!mounts.isEmpty()) {
            return address + " has mounted file systems: " + String.join(", ", mounts);
        }
        if (!driver.equals(VFIO)) {
            return address + " is bound to " + (driver.isEmpty() ? "no driver" : "the driver " + driver) + ", not to "
                    + VFIO;
        }
        return group < 0 ? "there is no IOMMU" : "";
    }

    /** Returns what helps; empty if nothing is wrong. */
    String remedy() {
        if (!mounts.isEmpty()) {
            return "unmount them first; the disk of the running system cannot be used";
        }
        if (group < 0) {
            return "switch the IOMMU on in the firmware, and on Intel by intel_iommu=on on the kernel's command line";
        }
        return driver.equals(VFIO)
                ? ""
                : "modprobe vfio-pci; echo vfio-pci > /sys/bus/pci/devices/" + address + "/driver_override; echo "
                        + address
                        + " > /sys/bus/pci/devices/" + address + "/driver/unbind; echo " + address
                        + " > /sys/bus/pci/drivers_probe";
    }

    /** Returns one line for {@code doctor}. */
    @Override
    public String toString() {
        return address + ": driver " + (driver.isEmpty() ? "none" : driver) + ", "
                + (group < 0 ? "no IOMMU" : "IOMMU group " + group)
                + (mounts.isEmpty() ? "" : ", mounted on " + String.join(", ", mounts));
    }
}
