// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a tree of sysfs shows to stand between a GPU and other devices. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the files of sysfs have colons in their names")
class PeerLimitsTest {

    private static final String GPU = "0000:1b:00.0";
    private static final String NEAR = "0000:1c:00.0"; // below the same root complex
    private static final String FAR = "0000:86:00.0";
    private static final long GIB = 1L << 30;

    private static final String BAR = "the largest BAR of 0000:1b:00.0 has 256 MiB";
    private static final String BAR_REMEDY =
            "enable Resizable BAR and Above 4G Decoding in the firmware (docs/doctor.md#bar)";
    private static final String THROUGH_THE_ROOT =
            ": requests from device to device go through the root port instead of a"
                    + " switch, slower, or are refused; boot with iommu=pt, or switch it off in the firmware"
                    + " (docs/doctor.md#iommu)";
    private static final String APART = "0000:1b:00.0 and 0000:86:00.0 are not below one root complex, but on different"
            + " NUMA nodes: whether requests pass from one to the other depends on the processor, and they are slower;"
            + " use slots of one root complex (docs/doctor.md#distance)";

    @TempDir
    Path root;

    @BeforeEach
    void makeMachine() throws IOException {
        device("pci0000:15/0000:15:01.0", GPU, 0);
        device("pci0000:15/0000:15:02.0", NEAR, 0);
        device("pci0000:85/0000:85:01.0", FAR, 1);
        bar(0x4fL << 32, 80 * GIB);
    }

    private void device(String bridges, String address, int node) throws IOException {
        Path folder = root.resolve("sys/devices/" + bridges + "/" + address);
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("numa_node"), node + "\n");
        link("sys/bus/pci/devices/" + address, "../../../devices/" + bridges + "/" + address);
    }

    private void link(String from, String target) throws IOException {
        Files.createDirectories(root.resolve(from).getParent());
        Files.createSymbolicLink(root.resolve(from), Path.of(target));
    }

    private void bar(long start, long bytes) throws IOException {
        Files.writeString(
                root.resolve("sys/bus/pci/devices/" + GPU + "/resource"),
                "0x%016x 0x%016x 0x000000000014220c\n".formatted(start, start + bytes - 1));
    }

    private void iommu(String address, int group, String type) throws IOException {
        Files.createDirectories(root.resolve("sys/class/iommu/dmar0"));
        Path folder = root.resolve("sys/kernel/iommu_groups/" + group);
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("type"), type + "\n");
        link("sys/bus/pci/devices/" + address + "/iommu_group", "../../../kernel/iommu_groups/" + group);
    }

    private PeerLimits limits() {
        return new PeerLimits(new KernelFiles(root, "amd64"), "0000:1B:00.0", 80 * GIB); // CUDA writes capitals
    }

    @Test
    void nothingStandsBetweenDevicesOfOneRootComplexWithoutAnIommu() {
        assertThat(limits().of()).isEmpty();
        assertThat(limits().of(NEAR)).isEmpty();
        assertThat(limits().obstacle(80 * GIB)).isEmpty();
    }

    @Test
    void aBarThatIsSmallerThanTheMemoryLimitsAllExportsAndRefusesLargerOnes() throws IOException {
        bar(0x10000000, GIB / 4);
        assertThat(limits().of(NEAR))
                .containsExactly(BAR + ", its memory 81920 MiB: all exports together cannot be more than the BAR; "
                        + BAR_REMEDY);
        assertThat(limits().obstacle(GIB / 4)).isEmpty();
        assertThat(limits().obstacle(GIB / 4 + 4096))
                .contains(BAR + ", and other devices reach the memory through it; " + BAR_REMEDY
                        + ", or export smaller buffers");
    }

    @Test
    void anIommuMattersIfItTranslatesTheAddressesOfTheImporter() throws IOException {
        iommu(GPU, 7, "DMA-FQ");
        iommu(NEAR, 8, "identity");
        assertThat(limits().of(NEAR)).isEmpty();
        assertThat(limits().of()).containsExactly("the IOMMU translates [DMA-FQ, identity]" + THROUGH_THE_ROOT);
        iommu(FAR, 9, "DMA-FQ");
        assertThat(limits().of(FAR))
                .containsExactly("the IOMMU translates [DMA-FQ] for 0000:86:00.0" + THROUGH_THE_ROOT, APART);
    }

    @Test
    void devicesThatVfioLendsAreTranslatedWhateverTheGroupSays() throws IOException {
        iommu(NEAR, 8, "identity");
        link("sys/bus/pci/devices/" + NEAR + "/driver", "../../../bus/pci/drivers/vfio-pci");
        assertThat(limits().of(NEAR))
                .singleElement()
                .asString()
                .startsWith("VFIO lends 0000:1c:00.0, so the IOMMU translates its addresses");
    }

    @Test
    void amdgpuMayKeepItsGpusFromPeers() throws IOException {
        Path parameter = root.resolve("sys/module/amdgpu/parameters/pcie_p2p");
        Files.createDirectories(parameter.getParent());
        Files.writeString(parameter, "N\n");
        assertThat(limits().of(NEAR)).as("an importer that is no GPU of AMD").isEmpty();
        Path device = root.resolve("sys/bus/pci/devices/" + NEAR);
        Files.writeString(device.resolve("class"), "0x038000\n");
        Files.writeString(device.resolve("vendor"), "0x1002\n");
        assertThat(limits().of(NEAR))
                .containsExactly("amdgpu.pcie_p2p is off: 0000:1c:00.0 does not reach the memory of other GPUs by PCIe;"
                        + " boot with amdgpu.pcie_p2p=1 (docs/doctor.md#amdgpu)");
        Files.writeString(parameter, "Y\n");
        assertThat(limits().of(NEAR)).isEmpty();
    }

    @Test
    void theLimitsOfEachImporterAreNamed() {
        assertThat(limits().of(NEAR, FAR, "0000:FF:00.0"))
                .containsExactly(
                        APART,
                        "the kernel shows no PCI device 0000:ff:00.0: nothing is known of its way to the memory");
    }

    /** Its memory is behind the processor's own link, and NVIDIA asks for an IOMMU that translates. */
    @Test
    void aGraceProcessorHasTheOppositeLimits() throws IOException {
        bar(0x10000000, GIB / 4);
        PeerLimits grace = new PeerLimits(new KernelFiles(root, "aarch64"), GPU, 80 * GIB);
        assertThat(grace.obstacle(GIB)).isEmpty();
        assertThat(grace.of())
                .containsExactly(
                        "the IOMMU is off: a Grace processor needs one that translates; boot without iommu=off,"
                                + " iommu=pt and iommu.passthrough=1 (docs/doctor.md#iommu)");
        iommu(NEAR, 8, "DMA-FQ");
        assertThat(grace.of(NEAR)).isEmpty();
    }

    @Test
    void nothingIsSaidOfAGpuThatTheKernelDoesNotShow() {
        PeerLimits unknown = new PeerLimits(new KernelFiles(root.resolve("nothing"), "amd64"), "", GIB);
        assertThat(unknown.of()).isEmpty();
        assertThat(unknown.obstacle(GIB)).isEmpty();
    }
}
