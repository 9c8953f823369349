// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.doctor.Finding.Level;
import io.penstock.engine.kit.machine.KernelFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Machines whose devices are stacked, or not what most are. */
class UnusualMachinesTest {

    private static final String BLOCK = "/sys/devices/virtual/block/";

    @TempDir
    Path root;

    private KernelFiles machine;

    @BeforeEach
    void name() {
        machine = new KernelFiles(root, "amd64");
    }

    private void link(String file, String target) throws IOException {
        Files.createDirectories(machine.path(file).getParent());
        Files.createDirectories(machine.path(target));
        Files.createSymbolicLink(machine.path(file), machine.path(target));
    }

    private void write(String file, String text) throws IOException {
        Files.createDirectories(machine.path(file).getParent());
        Files.writeString(machine.path(file), text);
    }

    private Finding storage(String device) {
        return FileChecks.of(machine, Path.of("/model"), device).get(0);
    }

    /** A logical volume of an encrypted partition of a RAID. */
    @Test
    void theDisksBelowAStackOfDevicesDecide() throws IOException {
        link("/sys/dev/block/253:1", BLOCK + "dm-1");
        link(BLOCK + "dm-1/slaves/dm-0", BLOCK + "dm-0");
        link(BLOCK + "dm-0/slaves/md127p1", BLOCK + "md127/md127p1");
        write(BLOCK + "md127/md127p1/partition", "1\n");
        link(BLOCK + "md127/slaves/nvme0n1", "/sys/devices/pci0000:00/nvme0n1");
        link(BLOCK + "md127/slaves/nvme1n1p1", "/sys/devices/pci0000:00/nvme1n1/nvme1n1p1");
        write("/sys/devices/pci0000:00/nvme1n1/nvme1n1p1/partition", "1\n");
        assertThat(storage("253:1").level()).isEqualTo(Level.OK);
        assertThat(storage("253:1").what()).startsWith("dm-1 of dm-0: ");
        link(BLOCK + "md127/slaves/sda", "/sys/devices/pci0000:00/sda");
        assertThat(storage("253:1").level()).isEqualTo(Level.NOTE);
        assertThat(storage("253:1").why()).startsWith("not NVMe");
    }

    /** Its driver claims that it takes requests of any size, and the kernel that it rotates. */
    @Test
    void aVirtualDiskHasTheLimitOfTheKernel() throws IOException {
        link("/sys/dev/block/254:0", "/sys/devices/pci0000:00/virtio2/block/vda");
        write("/sys/dev/block/254:0/queue/max_hw_sectors_kb", "2147483647\n");
        write("/sys/dev/block/254:0/queue/max_sectors_kb", "1280\n");
        write("/sys/dev/block/254:0/queue/rotational", "1\n");
        assertThat(storage("254:0").what())
                .contains("requests of up to 1280 KiB")
                .endsWith(", rotating");
        write("/proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
        assertThat(storage("254:0").what()).doesNotContain("rotating");
    }

    /** Its memory is the processor's, and no firmware resizes its aperture. */
    @Test
    void theApertureOfAnIntegratedGpuIsNoSmallBar() throws IOException {
        gpu("0000:00:02.0", "pci0000:00/0000:00:02.0");
        assertThat(PciChecks.of(machine)).noneMatch(finding -> finding.what().contains("its largest BAR"));
        gpu("0000:03:00.0", "pci0000:00/0000:00:01.0/0000:03:00.0");
        assertThat(PciChecks.of(machine))
                .filteredOn(finding -> finding.level() == Level.WARNING)
                .extracting(Finding::what)
                .containsExactly("Intel 0000:03:00.0: its largest BAR has 256 MiB");
    }

    private void gpu(String address, String route) throws IOException {
        String device = "/sys/bus/pci/devices/" + address;
        link(device, "/sys/devices/" + route);
        write(device + "/class", "0x030000\n");
        write(device + "/vendor", "0x8086\n");
        write(device + "/resource", "0x0000000080000000 0x000000008fffffff 0x000000000014220c\n");
    }
}
