// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An NVMe controller as sysfs shows it.
 *
 * @param address domain, bus, device and function, such as {@code 0000:04:00.0}
 * @param driver the driver that it is bound to; empty if none
 * @param group its IOMMU group; -1 if there is no IOMMU
 * @param lent its name among the devices that VFIO lends, such as {@code vfio0}; empty if it is none
 * @param uses what the kernel uses its disks for, such as {@code mounted on /home}
 */
record PciDevice(String address, String driver, int group, String lent, List<String> uses) {

    private static final String NVME_CLASS = "0x010802";
    private static final Path DEVICES = Path.of("sys/bus/pci/devices");
    private static final Path BLOCK = Path.of("sys/class/block");
    private static final Path BTRFS = Path.of("sys/fs/btrfs");

    // With several paths to a namespace, nvme0c1n2 is one of them, and nvme0n2 the disk.
    private static final Pattern NAMESPACE = Pattern.compile("(nvme\\d+)(?:c\\d+)?(n\\d+)");

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
                names(device.resolve("vfio-dev")).stream().findFirst().orElse(""),
                uses(root, device));
    }

    /**
     * Returns how the kernel uses the block devices of the controller, and the devices that lie on them: logical
     * volumes, RAID, dm-crypt. A pool of ZFS shows itself nowhere in sysfs.
     */
    private static List<String> uses(Path root, Path device) {
        Map<String, String> disks = new LinkedHashMap<>();
        List<String> uses = new ArrayList<>();
        Path controllers = device.resolve("nvme");
        for (String controller : names(controllers)) {
            for (String name : names(controllers.resolve(controller))) {
                Matcher namespace = NAMESPACE.matcher(name);
                if (namespace.matches()) {
                    addDisk(root, namespace.group(1) + namespace.group(2), disks, uses);
                }
            }
        }
        addMounts(root, disks, uses);
        text(root.resolve("proc/swaps"))
                .lines()
                .map(line -> lastName(line.split("\\s")[0]))
                .filter(disks::containsKey)
                .forEach(name -> uses.add("swap on " + name));
        for (String fileSystem : names(root.resolve(BTRFS))) {
            for (String name : names(root.resolve(BTRFS).resolve(fileSystem).resolve("devices"))) {
                if (disks.containsKey(name)) {
                    uses.add(name + " in the Btrfs " + fileSystem); // its mounts name one of its disks only
                }
            }
        }
        return List.copyOf(uses);
    }

    /** Adds the number of a disk, of its partitions, and of what holds them. */
    private static void addDisk(Path root, String name, Map<String, String> disks, List<String> uses) {
        Path disk = root.resolve(BLOCK).resolve(name);
        if (disks.putIfAbsent(name, text(disk.resolve("dev"))) != null) {
            return;
        }
        for (String holder : names(disk.resolve("holders"))) {
            uses.add(name + " held by " + holder);
            addDisk(root, holder, disks, uses);
        }
        for (String part : names(disk)) {
            if (part.startsWith(name)) {
                addDisk(root, part, disks, uses);
            }
        }
    }

    private static void addMounts(Path root, Map<String, String> disks, List<String> uses) {
        for (String line : text(root.resolve("proc/self/mountinfo")).lines().toList()) {
            String[] halves = line.split(" - ", 2);
            String[] mount = halves[0].split(" ");
            String[] fileSystem = halves.length < 2 ? new String[0] : halves[1].split(" ");
            // Some have a number of their own, such as Btrfs, and tell their disk by name.
            boolean isNamed = fileSystem.length > 1
                    && fileSystem[1].startsWith("/dev/")
                    && disks.containsKey(lastName(fileSystem[1]));
            if (mount.length > 4 && (isNamed || disks.containsValue(mount[2]))) {
                uses.add("mounted on " + mount[4]);
            }
        }
    }

    private static String lastName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static List<String> names(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
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

    /** Returns the file of its IOMMU group. */
    String groupFile() {
        return "/dev/vfio/" + group;
    }

    /** Returns the file of the device itself, which kernels without {@code CONFIG_VFIO_DEVICE_CDEV} do not have. */
    String file() {
        return "/dev/vfio/devices/" + lent;
    }

    /** Returns whether this process can open it by iommufd. */
    boolean hasIommufd(Path root) {
        return !lent.isEmpty() && isWritable(root, file()) && isWritable(root, Iommufd.FILE);
    }

    /** Returns how this process opens it, for messages. */
    String way(Path root) {
        return hasIommufd(root) ? "by VFIO and iommufd, " + file() : "by VFIO, IOMMU group " + group;
    }

    /**
     * Returns the files that are not writable, of the files that this process needs; empty if it can open the device.
     */
    List<String> closedFiles(Path root) {
        if (hasIommufd(root) || isWritable(root, groupFile())) {
            return List.of();
        }
        // A kernel without CONFIG_VFIO_GROUP has no files of groups.
        boolean byGroup = lent.isEmpty() || exists(root, groupFile()) || !exists(root, file());
        return byGroup
                ? List.of(groupFile())
                : Stream.of(file(), Iommufd.FILE)
                        .filter(file -> !isWritable(root, file))
                        .toList();
    }

    private static boolean isWritable(Path root, String file) {
        return Files.isWritable(root.resolve(file.substring(1)));
    }

    private static boolean exists(Path root, String file) {
        return Files.exists(root.resolve(file.substring(1)));
    }

    /** Returns why this process cannot drive it; empty if it can, as far as sysfs tells. */
    String refusal() {
        if (!uses.isEmpty()) {
            return address + " is in use: " + String.join(", ", uses);
        }
        if (!driver.equals(VFIO)) {
            return address + " is bound to " + (driver.isEmpty() ? "no driver" : "the driver " + driver) + ", not to "
                    + VFIO;
        }
        return group < 0 ? "there is no IOMMU" : "";
    }

    /** Returns what helps; empty if nothing is wrong. */
    String remedy() {
        if (!uses.isEmpty()) {
            return "end these uses first, such as by umount, swapoff, vgchange -an or mdadm --stop; the disk of the"
                    + " running system cannot be used";
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
                + (uses.isEmpty() ? "" : ", " + String.join(", ", uses));
    }
}
