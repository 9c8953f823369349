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

    @TempDir
    Path root;

    private void controller(String driver, String group) throws IOException {
        Path device =
                Files.createDirectories(root.resolve("sys/bus/pci/devices").resolve(ADDRESS));
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

    @Test
    void aMountedControllerIsRefused() throws IOException {
        controller("nvme", "12");
        Path partition = Files.createDirectories(
                root.resolve("sys/bus/pci/devices").resolve(ADDRESS).resolve("nvme/nvme0/nvme0n1/nvme0n1p2"));
        Files.writeString(partition.resolve("dev"), "259:2\n");
        Path mounts = Files.createDirectories(root.resolve("proc/self")).resolve("mountinfo");
        Files.writeString(mounts, "22 1 259:2 / /home rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n");
        Availability refused = probe(ADDRESS);
        assertThat(refused.reason()).isEqualTo(ADDRESS + " has mounted file systems: /home");
        assertThat(refused.details()).containsExactly(ADDRESS + ": driver nvme, IOMMU group 12, mounted on /home");
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
}
