// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Availability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What the probe makes of sysfs: a tree of files, as Linux 6.1 has them. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "names of PCI devices are no names of files there")
class VfioProbeTest {

    private static final String ADDRESS = "0000:04:00.0";
    private static final String DISK = "pci0000:00/" + ADDRESS + "/nvme/nvme0/nvme0n1";

    @TempDir
    Path root;

    private void controller(String driver, String group) throws IOException {
        Path device =
                Files.createDirectories(root.resolve("sys/devices/pci0000:00").resolve(ADDRESS));
        Path devices = Files.createDirectories(root.resolve("sys/bus/pci/devices"));
        Files.createSymbolicLink(devices.resolve(ADDRESS), Path.of("../../../devices/pci0000:00", ADDRESS));
        Files.writeString(device.resolve("class"), "0x010802\n");
        if (!driver.isEmpty()) {
            Files.createSymbolicLink(device.resolve("driver"), Path.of("../../../bus/pci/drivers", driver));
        }
        if (!group.isEmpty()) {
            Files.createSymbolicLink(device.resolve("iommu_group"), Path.of("../../../kernel/iommu_groups", group));
        }
        Path other = Files.createDirectories(root.resolve("sys/bus/pci/devices/0000:00:02.0"));
        Files.writeString(other.resolve("class"), "0x030000\n");
    }

    private Availability probe(String address) {
        return VfioProbe.probe(root, address, "the.option");
    }

    @Test
    void withoutAControllerThereIsNone() {
        assertThat(probe("").reason()).isEqualTo("there is no NVMe controller on PCI Express");
    }

    @Test
    void theControllersAreListed() throws IOException {
        controller("nvme", "12");
        Availability unnamed = probe("");
        assertThat(unnamed.available()).isFalse();
        assertThat(unnamed.reason()).isEqualTo("no controller is named");
        assertThat(unnamed.details()).containsExactly(ADDRESS + ": driver nvme, IOMMU group 12");
        assertThat(probe("0000:05:00.0").reason()).isEqualTo("there is no NVMe controller at 0000:05:00.0");
    }

    @Test
    void aControllerOfTheKernelIsRefusedWithTheCommandsThatHelp() throws IOException {
        controller("nvme", "12");
        assertThat(probe(ADDRESS).reason()).isEqualTo(ADDRESS + " is bound to the driver nvme, not to vfio-pci");
        assertThat(probe(ADDRESS).remedy()).contains("modprobe vfio-pci", ADDRESS + "/driver_override");
    }

    /** Makes a block device at a place of sysfs, with its link among all of them. */
    private void block(String place, String number) throws IOException {
        Path device = Files.createDirectories(root.resolve("sys/devices").resolve(place));
        Files.writeString(device.resolve("dev"), number + "\n");
        Path all = Files.createDirectories(root.resolve("sys/class/block"));
        Files.createSymbolicLink(all.resolve(device.getFileName()), Path.of("../../devices", place));
    }

    /** A disk with two partitions. */
    private void disk() throws IOException {
        block(DISK, "259:0");
        block(DISK + "/nvme0n1p1", "259:1");
        block(DISK + "/nvme0n1p2", "259:2");
    }

    private void hold(String place, String holder) throws IOException {
        Path holders = Files.createDirectories(
                root.resolve("sys/devices").resolve(place).resolve("holders"));
        Files.createSymbolicLink(holders.resolve(holder), Path.of("../../../../../../virtual/block", holder));
    }

    private void proc(String name, String content) throws IOException {
        Path file = root.resolve("proc").resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private void checkInUse(String uses) {
        Availability refused = probe(ADDRESS);
        assertThat(refused.reason()).isEqualTo(ADDRESS + " is in use: " + uses);
        assertThat(refused.remedy()).startsWith("end these uses first").doesNotContain("unbind");
        assertThat(refused.details()).containsExactly(ADDRESS + ": driver nvme, IOMMU group 12, " + uses);
    }

    @Test
    void aMountedControllerIsRefused() throws IOException {
        controller("nvme", "12");
        disk();
        proc(
                "self/mountinfo",
                "21 1 254:0 / / rw - ext4 /dev/vda rw\n22 1 259:2 / /home rw shared:1 - ext4 /dev/root rw\n");
        checkInUse("mounted on /home");
    }

    /** As LVM on dm-crypt on a partition, and RAID with partitions of its own. */
    @Test
    void aControllerWhoseDisksAreHeldIsRefused() throws IOException {
        controller("nvme", "12");
        disk();
        block("virtual/block/dm-0", "253:0");
        block("virtual/block/dm-1", "253:1");
        block("virtual/block/md127", "9:127");
        block("virtual/block/md127/md127p1", "259:9");
        hold(DISK + "/nvme0n1p1", "dm-0");
        hold("virtual/block/dm-0", "dm-1");
        hold(DISK + "/nvme0n1p2", "md127");
        String held = "nvme0n1p1 held by dm-0, dm-0 held by dm-1, nvme0n1p2 held by md127";
        checkInUse(held);
        proc(
                "self/mountinfo",
                "22 1 253:1 / /var rw - xfs /dev/mapper/vg-var rw\n23 1 259:9 / /srv rw - ext4 /dev/md127p1 rw\n");
        checkInUse(held + ", mounted on /var, mounted on /srv");
    }

    @Test
    void aControllerWithSwapIsRefused() throws IOException {
        controller("nvme", "12");
        disk();
        proc("swaps", """
                Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority
                /dev/vdb                                partition\t2\t0\t-2
                /dev/nvme0n1p2                          partition\t2\t0\t-3
                """);
        checkInUse("swap on nvme0n1p2");
    }

    /** Its mounts have a number that is no disk's, and name one of its disks. */
    @Test
    void aControllerWithADiskOfBtrfsIsRefused() throws IOException {
        controller("nvme", "12");
        disk();
        String mount = "22 1 0:44 /@ /data rw - btrfs %s rw\n";
        proc("self/mountinfo", mount.formatted("/dev/nvme0n1p1"));
        checkInUse("mounted on /data");
        proc("self/mountinfo", mount.formatted("/dev/vdc"));
        Path devices = Files.createDirectories(root.resolve("sys/fs/btrfs/2f-1a/devices"));
        Files.createSymbolicLink(devices.resolve("vdc"), Path.of("../../../../class/block/vdc"));
        Files.createSymbolicLink(devices.resolve("nvme0n1p2"), Path.of("../../../../class/block/nvme0n1p2"));
        checkInUse("nvme0n1p2 in the Btrfs 2f-1a");
    }

    /** The disk is then below no controller. */
    @Test
    void aDiskWithSeveralPathsIsFound() throws IOException {
        controller("nvme", "12");
        Files.createDirectories(
                root.resolve("sys/devices/pci0000:00").resolve(ADDRESS).resolve("nvme/nvme1/nvme0c1n3"));
        block("virtual/nvme-subsystem/nvme-subsys0/nvme0n3", "259:7");
        proc("self/mountinfo", "22 1 259:7 / /home rw - ext4 /dev/nvme0n3 rw\n");
        checkInUse("mounted on /home");
    }

    @Test
    void whatOtherDisksAreUsedForIsNoRefusal() throws IOException {
        controller("nvme", "12");
        disk();
        proc("self/mountinfo", "22 1 254:0 / / rw - ext4 /dev/vda rw\n23 1 0:44 / /tmp rw - tmpfs nvme0n1p1 rw\n");
        proc("swaps", "Filename Type\n/dev/vdb partition 2 0 -2\n");
        assertThat(probe(ADDRESS).reason()).isEqualTo(ADDRESS + " is bound to the driver nvme, not to vfio-pci");
        assertThat(probe(ADDRESS).remedy()).contains("/driver/unbind");
    }

    @Test
    void withoutAnIommuThereIsNoVfio() throws IOException {
        controller("vfio-pci", "");
        assertThat(probe(ADDRESS).reason()).isEqualTo("there is no IOMMU");
        assertThat(probe(ADDRESS).remedy()).contains("intel_iommu=on");
    }

    @Test
    void aControllerThatIsLentCanBeOpened() throws IOException {
        controller("vfio-pci", "12");
        assertThat(probe(ADDRESS).reason()).endsWith("dev/vfio/12 is not writable by this user");
        Files.writeString(Files.createDirectories(root.resolve("dev/vfio")).resolve("12"), "");
        assertThat(probe(ADDRESS).available()).isTrue();
        assertThat(probe(ADDRESS).reason()).isEqualTo("by VFIO, IOMMU group 12");
    }

    private void file(String name) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "");
    }

    /** Linux 6.1 names the device, but has no file of it. */
    @Test
    void aControllerIsOpenedByIommufdWhereItsFileAndThatOfTheIommuAreThere() throws IOException {
        controller("vfio-pci", "12");
        Files.createDirectories(
                root.resolve("sys/bus/pci/devices").resolve(ADDRESS).resolve("vfio-dev/vfio3"));
        file("dev/vfio/12");
        file("dev/iommu");
        assertThat(probe(ADDRESS).reason()).isEqualTo("by VFIO, IOMMU group 12");
        file("dev/vfio/devices/vfio3");
        assertThat(probe(ADDRESS).reason()).isEqualTo("by VFIO and iommufd, /dev/vfio/devices/vfio3");
        Files.delete(root.resolve("dev/iommu"));
        assertThat(probe(ADDRESS).reason()).isEqualTo("by VFIO, IOMMU group 12");
    }

    @Test
    void withoutAFileOfTheGroupThoseOfIommufdAreAskedFor() throws IOException {
        controller("vfio-pci", "12");
        Files.createDirectories(
                root.resolve("sys/bus/pci/devices").resolve(ADDRESS).resolve("vfio-dev/vfio3"));
        assertThat(probe(ADDRESS).remedy()).isEqualTo("chown $USER /dev/vfio/12");
        file("dev/vfio/devices/vfio3");
        assertThat(probe(ADDRESS).reason()).isEqualTo("/dev/iommu is not writable by this user");
        assertThat(probe(ADDRESS).remedy()).isEqualTo("chown $USER /dev/iommu");
        file("dev/iommu");
        assertThat(probe(ADDRESS).available()).isTrue();
    }
}
