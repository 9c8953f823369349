// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cli.doctor.Finding.Level;
import io.penstock.engine.kit.machine.KernelFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each check on trees of {@code /proc}, {@code /sys} and so on. */
class ChecksTest {

    @TempDir
    static Path root;

    private static KernelFiles server;
    private static KernelFiles workstation;
    private static KernelFiles lender; // of NVMe controllers

    @BeforeAll
    static void makeTrees() throws IOException {
        server = Trees.make(root.resolve("server"), "switch.tree", "amd64");
        workstation = Trees.make(root.resolve("workstation"), "workstation.tree", "amd64");
        lender = Trees.make(root.resolve("lender"), "vfio.tree", "amd64");
    }

    private static List<String> of(List<Finding> findings, Level level) {
        return findings.stream()
                .filter(finding -> finding.level() == level)
                .map(Finding::what)
                .toList();
    }

    private static List<Finding> ofFile(String path, String device) {
        return FileChecks.of(server, Path.of(path), device);
    }

    @Test
    void whatStandsBetweenDevicesOfAServerIsFound() {
        List<Finding> findings = PciChecks.of(server);
        assertThat(of(findings, Level.WARNING))
                .containsExactly(
                        "the IOMMU translates [DMA-FQ]",
                        "access control services (ACS) redirect requests at 0000:17:00.0, 0000:17:01.0",
                        "NVIDIA H100 80GB HBM3 0000:86:00.0: the nearest of NVMe and RDMA, NVMe 0000:19:00.0, is on different NUMA"
                                + " nodes",
                        "NVIDIA H100 80GB HBM3 0000:86:00.0: its largest BAR has 256 MiB",
                        "NVMe 0000:19:00.0: 2 lanes of 4, 32.0 GT/s of 32.0");
        assertThat(of(findings, Level.NOTE))
                .containsExactly("NVIDIA H100 80GB HBM3 0000:18:00.0: 16 lanes of 16, 2.5 GT/s of 32.0");
        assertThat(of(findings, Level.OK))
                .containsExactly(
                        "NVIDIA H100 80GB HBM3 0000:18:00.0: the nearest of NVMe and RDMA, NVMe 0000:19:00.0, is below one PCIe"
                                + " switch",
                        "NVIDIA H100 80GB HBM3 0000:18:00.0: its largest BAR has 131072 MiB");
    }

    /** As the kernel does behind a port for foreign devices, whatever its command line says. */
    @Test
    void anIommuThatTranslatesForOtherDevicesOnlyStandsBetweenNone() throws IOException {
        KernelFiles machine = Trees.make(root.resolve("foreign"), "switch.tree", "amd64");
        write(machine, "/sys/kernel/iommu_groups/90/type", "DMA-FQ\n");
        write(machine, "/sys/kernel/iommu_groups/91/type", "identity\n");
        for (String device : machine.names("/sys/bus/pci/devices")) {
            Path link = machine.path("/sys/bus/pci/devices/" + device + "/iommu_group");
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, Path.of("../../../../kernel/iommu_groups/91"));
        }
        assertThat(of(PciChecks.of(machine), Level.OK)).contains("the IOMMU passes through");
    }

    @Test
    void aWorkstationWithoutASwitchIsDescribedAsItIs() {
        List<Finding> findings = PciChecks.of(workstation);
        assertThat(of(findings, Level.OK)).containsExactly("the IOMMU passes through");
        assertThat(of(findings, Level.WARNING)).containsExactly("AMD 0000:01:00.0: its largest BAR has 256 MiB");
        assertThat(of(findings, Level.NOTE))
                .containsExactly(
                        "only root reads whether ACS is on",
                        "AMD 0000:01:00.0: the nearest of NVMe and RDMA, NVMe 0000:02:00.0, is below one root complex",
                        "NVMe 0000:02:00.0: 4 lanes of 4, 8.0 GT/s of 16.0");
    }

    /**
     * A virtual machine as GPUs are lent in: two cards on one bus, no disk or adapter of a kind that they
     * reach.
     */
    @Test
    void aVirtualMachineWithTwoGpusIsDescribedAsItIs() throws IOException {
        KernelFiles guest = Trees.make(root.resolve("guest"), "two-h200.tree", "amd64");
        List<Finding> pci = PciChecks.of(guest);
        assertThat(of(pci, Level.WARNING)).isEmpty();
        assertThat(of(pci, Level.NOTE))
                .containsExactly("this is a virtual machine", "no NVMe device and no RDMA adapter");
        assertThat(of(pci, Level.OK))
                .containsExactly(
                        "the IOMMU is off",
                        "NVIDIA H200 0000:00:06.0: its largest BAR has 262144 MiB",
                        "NVIDIA H200 0000:00:07.0: its largest BAR has 262144 MiB",
                        "NVIDIA H200 0000:00:06.0: 16 lanes of 16, 32.0 GT/s of 32.0",
                        "NVIDIA H200 0000:00:07.0: 16 lanes of 16, 32.0 GT/s of 32.0");
        List<Finding> nvidia = NvidiaChecks.of(guest);
        assertThat(of(nvidia, Level.OK)).containsExactly("NVIDIA's open kernel module 580.159.04");
        assertThat(of(nvidia, Level.NOTE)).containsExactly("nvidia-fs is not loaded");
        assertThat(of(KernelChecks.of(guest), Level.OK))
                .contains("io_uring is enabled for every process (kernel.io_uring_disabled = 0)");
    }

    @Test
    void aGraceProcessorNeedsAnIommuThatTranslates() throws IOException {
        KernelFiles grace = new KernelFiles(server.root(), "aarch64");
        assertThat(of(PciChecks.of(grace), Level.OK)).contains("the IOMMU translates [DMA-FQ]");
        KernelFiles off = Trees.make(root.resolve("off"), "switch.tree", "aarch64");
        try (Stream<Path> iommu = Files.walk(off.path("/sys/class/iommu"))) {
            iommu.sorted(Comparator.reverseOrder())
                    .forEach(path -> path.toFile().delete());
        }
        assertThat(of(PciChecks.of(off), Level.WARNING)).contains("the IOMMU is off");
        assertThat(of(PciChecks.of(new KernelFiles(off.root(), "amd64")), Level.OK))
                .contains("the IOMMU is off");
    }

    @Test
    void nvidiasDriverNvidiaFsAndAdaptersAreDescribed() {
        List<Finding> findings = NvidiaChecks.of(server);
        assertThat(of(findings, Level.OK))
                .containsExactly(
                        "NVIDIA's open kernel module 580.95.05",
                        "nvidia-fs 2.27.3 is loaded",
                        "nvidia-fs: Active Shadow-Buffer (MiB): 128; Reads : err=0 io_state_err=0; Writes : err=0 io_state_err=0",
                        "mlx5_0: port 1 ACTIVE, Ethernet, RoCE v2, 400 Gb/sec (4X NDR)",
                        "OFED's mlx5_core 24.10-1.1.4");
        assertThat(of(findings, Level.NOTE))
                .containsExactly(
                        "nvidia-fs counts no operations",
                        "mlx5_1: port 1 DOWN, InfiniBand",
                        "nvidia-peermem is not loaded");
        assertThat(NvidiaChecks.of(workstation)).isEmpty();
    }

    @Test
    void whatVfioLendsIsDescribed() throws IOException {
        List<Finding> findings = VfioChecks.of(lender);
        assertThat(of(findings, Level.OK))
                .containsExactly("VFIO's modules are loaded", "NVMe 0000:01:00.0: driver vfio-pci, IOMMU group 11");
        assertThat(of(findings, Level.WARNING))
                .containsExactly(
                        "NVMe 0000:03:00.0: driver vfio-pci, IOMMU group 13, with 0000:03:00.1 of the driver e1000e");
        assertThat(of(findings, Level.NOTE))
                .containsExactly(
                        "NVMe 0000:02:00.0: driver nvme, IOMMU group 12, with 0000:02:00.1 of the driver snd_hda_intel",
                        "NVMe 0000:04:00.0: driver none, no IOMMU group");
        assertThat(of(VfioChecks.of(workstation), Level.NOTE))
                .contains("VFIO's modules are not loaded: vfio-pci, vfio_iommu_type1");
        KernelFiles without = Trees.make(root.resolve("without"), "two-h200.tree", "amd64");
        assertThat(VfioChecks.of(without)).as("without a controller").isEmpty();
    }

    /** Type 1 is not needed then. */
    @Test
    void aControllerThatIommufdOpensIsDescribed() throws IOException {
        KernelFiles machine = Trees.make(root.resolve("iommufd"), "iommufd.tree", "amd64");
        assertThat(of(VfioChecks.of(machine), Level.OK))
                .containsExactly(
                        "VFIO's modules are loaded", "NVMe 0000:00:04.0: driver vfio-pci, IOMMU group 4, iommufd");
        Files.delete(machine.path("/dev/iommu"));
        assertThat(of(VfioChecks.of(machine), Level.NOTE))
                .containsExactly("VFIO's modules are not loaded: vfio_iommu_type1");
        assertThat(of(VfioChecks.of(machine), Level.OK))
                .containsExactly("NVMe 0000:00:04.0: driver vfio-pci, IOMMU group 4");
    }

    @Test
    void hugePagesAreDescribed() throws IOException {
        assertThat(of(KernelChecks.of(lender), Level.NOTE))
                .containsExactly("transparent huge pages are off", "512 huge pages are reserved (vm.nr_hugepages)");
        KernelFiles on = Trees.make(root.resolve("on"), "vfio.tree", "amd64");
        Files.writeString(on.path("/sys/kernel/mm/transparent_hugepage/enabled"), "always [madvise] never\n");
        assertThat(of(KernelChecks.of(on), Level.OK))
                .containsExactly("transparent huge pages are on: always [madvise] never");
    }

    @Test
    void aGpuWithoutItsDriverIsAWarning() throws IOException {
        KernelFiles bare = Trees.make(root.resolve("bare"), "switch.tree", "amd64");
        Files.delete(bare.path("/proc/driver/nvidia/version"));
        assertThat(of(NvidiaChecks.of(bare), Level.WARNING))
                .singleElement()
                .asString()
                .contains("is not loaded");
    }

    @Test
    void amdsDriverGpusAndLimitsAreDescribed() {
        List<Finding> findings = AmdChecks.of(workstation);
        assertThat(of(findings, Level.OK))
                .containsExactly(
                        "amdgpu 6.12.12",
                        "KFD node 1: gfx906, 60 compute units, wavefronts of 64, 256 MiB visible to peers and 32496 that"
                                + " are not, PCI 0000:01:00.0",
                        "host memory that GPUs may hold: 16071 MiB (ttm.pages_limit)");
        assertThat(of(findings, Level.NOTE)).containsExactly("amdgpu.pcie_p2p is N");
        assertThat(of(findings, Level.WARNING))
                .containsExactly("card0: the processor and other devices reach 256 MiB of 32752");
        assertThat(AmdChecks.of(server)).as("without a GPU of AMD").isEmpty();
    }

    @Test
    void anAmdGpuThatAmdgpuDoesNotShowIsAWarning() throws IOException {
        KernelFiles machine = Trees.make(root.resolve("amd"), "workstation.tree", "amd64");
        write(machine, "/sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 0\n");
        assertThat(of(AmdChecks.of(machine), Level.WARNING))
                .first()
                .asString()
                .isEqualTo("amdgpu 6.12.12 shows no GPU for computing");
        Files.move(machine.path("/sys/module/amdgpu"), machine.path("/sys/module/radeon"));
        assertThat(of(AmdChecks.of(machine), Level.WARNING)).first().isEqualTo("amdgpu is not loaded");
        Files.move(machine.path("/sys/module/radeon"), machine.path("/sys/module/amdgpu"));
        write(machine, "/sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 4\n");
        write(machine, "/sys/module/amdgpu/parameters/use_xgmi_p2p", "0\n");
        Files.delete(machine.path("/sys/module/amdgpu/parameters/pcie_p2p"));
        assertThat(of(AmdChecks.of(machine), Level.NOTE))
                .containsExactly("amdgpu.pcie_p2p is not there", "amdgpu.use_xgmi_p2p is 0");
    }

    @Test
    void vendorsOfGraphicsAreDescribed() {
        List<Finding> findings = GraphicsChecks.of(workstation);
        assertThat(of(findings, Level.WARNING))
                .containsExactly("OpenCL's vendor amdocl64.icd: /opt/rocm/lib/libamdocl64.so, which is not there");
        assertThat(of(findings, Level.OK))
                .containsExactly("OpenCL's vendor pocl.icd: libpocl.so.2", "EGL's vendors: 50_mesa.json");
    }

    @Test
    void aLibraryOfOpenClThatTheDynamicLinkerDoesNotFindIsAWarning() throws IOException {
        KernelFiles machine = new KernelFiles(root.resolve("linker"), "amd64");
        write(machine, "/etc/OpenCL/vendors/here.icd", "libhere.so.2.10.0\n");
        write(machine, "/etc/OpenCL/vendors/none.icd", "\n");
        write(machine, "/etc/OpenCL/vendors/removed.icd", "libremoved.so\n");
        write(machine, "/lib/x86_64-linux-gnu/libhere.so.2.10.0", "");
        assertThat(of(GraphicsChecks.of(machine), Level.WARNING))
                .as("without the linker's cache")
                .containsExactly("OpenCL's vendor none.icd names no library");
        write(machine, "/etc/ld.so.cache", "glibc-ld.so.cache1.1\0libc.so.6\0/lib/x86_64-linux-gnu/libc.so.6\0");
        assertThat(of(GraphicsChecks.of(machine), Level.WARNING))
                .containsExactly(
                        "OpenCL's vendor none.icd names no library",
                        "OpenCL's vendor removed.icd: libremoved.so, which is not there");
        write(machine, "/proc/self/environ", "A=b\0LD_LIBRARY_PATH=/opt/lib\0");
        assertThat(of(GraphicsChecks.of(machine), Level.OK))
                .containsExactly(
                        "OpenCL's vendor here.icd: libhere.so.2.10.0", "OpenCL's vendor removed.icd: libremoved.so");
    }

    @Test
    void onlyFilesThatTheLoaderOfOpenClReadsNameVendors() throws IOException {
        KernelFiles machine = new KernelFiles(root.resolve("vendors"), "amd64");
        write(machine, "/etc/OpenCL/vendors/amdocl64.icd.disabled", "/opt/rocm/lib/libamdocl64.so\n");
        write(machine, "/etc/OpenCL/vendors/README", "One file for each vendor.\n");
        assertThat(GraphicsChecks.of(machine)).isEmpty();
    }

    /** A card and its render node are one device. */
    @Test
    void theMemoryOfAGpuIsDescribedOnce() throws IOException {
        KernelFiles machine = Trees.make(root.resolve("render-node"), "workstation.tree", "amd64");
        write(machine, "/sys/class/drm/renderD128/device/mem_info_vram_total", "34342961152\n");
        write(machine, "/sys/class/drm/renderD128/device/mem_info_vis_vram_total", "268435456\n");
        assertThat(of(AmdChecks.of(machine), Level.WARNING))
                .containsExactly("card0: the processor and other devices reach 256 MiB of 32752");
    }

    /** Its second port, which is down, says nothing of the first. */
    @Test
    void anAdapterWhoseOnlyActivePortHasNoRoceIsNoted() throws IOException {
        KernelFiles machine = new KernelFiles(root.resolve("ports"), "amd64");
        String ports = "/sys/class/infiniband/mlx5_0/ports";
        write(machine, ports + "/1/state", "4: ACTIVE\n");
        write(machine, ports + "/1/link_layer", "Ethernet\n");
        write(machine, ports + "/2/state", "1: DOWN\n");
        write(machine, ports + "/2/link_layer", "InfiniBand\n");
        assertThat(NvidiaChecks.of(machine)).singleElement().satisfies(finding -> {
            assertThat(finding.level()).isEqualTo(Level.NOTE);
            assertThat(finding.what())
                    .isEqualTo("mlx5_0: port 1 ACTIVE, Ethernet, no RoCE v2; port 2 DOWN, InfiniBand");
            assertThat(finding.why()).contains("needs RoCE v2");
        });
    }

    @Test
    void aDriverThatLeavesItsDeviceAloneKeepsNoGroupFromVfio() throws IOException {
        KernelFiles machine = Trees.make(root.resolve("stubs"), "vfio.tree", "amd64");
        for (String driver : List.of("pci-stub", "mlx5_vfio_pci")) {
            for (String other : List.of("0000:02:00.1", "0000:03:00.1")) {
                Path link = machine.path("/sys/bus/pci/devices/" + other + "/driver");
                Files.delete(link);
                Files.createDirectories(machine.path("/sys/bus/pci/drivers/" + driver));
                Files.createSymbolicLink(link, Path.of("../../../bus/pci/drivers/" + driver));
            }
            assertThat(of(VfioChecks.of(machine), Level.OK))
                    .as(driver)
                    .contains(
                            "NVMe 0000:02:00.0: driver nvme, IOMMU group 12",
                            "NVMe 0000:03:00.0: driver vfio-pci, IOMMU group 13");
        }
    }

    @Test
    void theKernelsLimitsAreNamedWithTheirRemedies() {
        List<Finding> findings = KernelChecks.of(workstation);
        assertThat(of(findings, Level.WARNING))
                .containsExactly("io_uring is switched off (kernel.io_uring_disabled = 2)");
        assertThat(of(findings, Level.NOTE))
                .containsExactly(
                        "a seccomp filter is in force, such as a container's",
                        "locked memory is limited to 64KiB",
                        "1024 open files at most",
                        "the memory of the control group / is limited to 2GiB");
        assertThat(KernelChecks.of(server))
                .as("nothing is said about what cannot be read")
                .isEmpty();
    }

    /** Groups that the container of the process does not see are absent: its own is then the root. */
    @Test
    void theLeastMemoryLimitOfAllControlGroupsOfTheProcessIsNamed() throws IOException {
        KernelFiles second = Trees.make(root.resolve("cgroup2"), "cgroup2.tree", "amd64");
        String limited = "the memory of the control group %s is limited to %s";
        assertThat(of(KernelChecks.of(second), Level.NOTE)).containsExactly(limited.formatted("/models.slice", "1GiB"));
        Files.delete(second.path("/sys/fs/cgroup/models.slice/memory.max"));
        assertThat(of(KernelChecks.of(second), Level.NOTE))
                .containsExactly(limited.formatted("/models.slice/load.service", "2GiB"));
        write(second, "/sys/fs/cgroup/models.slice/load.service/memory.max", "max\n");
        assertThat(KernelChecks.of(second)).isEmpty();

        KernelFiles first = Trees.make(root.resolve("cgroup1"), "cgroup1.tree", "amd64");
        assertThat(of(KernelChecks.of(first), Level.NOTE)).containsExactly(limited.formatted("/batch/job", "1GiB"));
        write(first, "/proc/self/cgroup", "4:memory:/docker/0123\n");
        assertThat(KernelChecks.of(first)).isEmpty();
        write(first, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
        assertThat(of(KernelChecks.of(first), Level.NOTE)).containsExactly(limited.formatted("/", "512MiB"));
    }

    @Test
    void theFileSystemAndTheDiskOfAFileAreDescribed() {
        assertThat(of(ofFile("/model", "259:2"), Level.WARNING))
                .containsExactly("ext4 on /dev/nvme0n1p2 at / (rw,relatime,rw,data=journal)");
        assertThat(of(ofFile("/model", "259:2"), Level.OK))
                .containsExactly(
                        "nvme0n1: blocks of 4096 bytes, requests of up to 128 KiB, scheduler [none] mq-deadline",
                        "udev has a record of the device 259:2 (ID_FS_USAGE=filesystem)");
        assertThat(of(ofFile("/data/model", "9:127"), Level.OK))
                .containsExactly("xfs on /dev/md127 at /data (rw,noatime,rw,attr2)");
        assertThat(of(ofFile("/data/model", "9:127"), Level.NOTE).get(0)).startsWith("md127 of nvme1n1, sda: ");
        assertThat(of(ofFile("/data/model", "9:127"), Level.NOTE).get(1)).startsWith("no record of udev");
        for (String other :
                new String[] {"/tmp/model 0:30 tmpfs", "/layer/model 0:99 overlay", "/net/model 0:50 nfs4"}) {
            String[] parts = other.split(" ");
            assertThat(of(ofFile(parts[0], parts[1]), Level.NOTE))
                    .as(other)
                    .singleElement()
                    .asString()
                    .startsWith(parts[2]);
        }
    }

    @Test
    void aMountPointWithBlanksIsFound() throws IOException {
        KernelFiles blanks = new KernelFiles(root.resolve("blanks"), "amd64");
        Path mounts = blanks.path("/proc/self/mountinfo");
        Files.createDirectories(mounts.getParent());
        Files.writeString(mounts, """
                22 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw
                23 22 0:50 / /mnt/my\\040disk\\134$1 rw - nfs4 host:/the\\040export rw
                """);
        assertThat(of(FileChecks.of(blanks, Path.of("/mnt/my disk\\$1/file"), "0:50"), Level.NOTE))
                .containsExactly("nfs4 on host:/the export at /mnt/my disk\\$1 (rw,rw)");
    }

    @Test
    void numbersThatAreNoneAreLeftOut() throws IOException {
        KernelFiles broken = Trees.make(root.resolve("broken"), "workstation.tree", "amd64");
        for (String device : broken.names("/sys/bus/pci/devices")) {
            for (String number : List.of("numa_node", "current_link_width", "current_link_speed", "resource")) {
                write(broken, "/sys/bus/pci/devices/" + device + "/" + number, "");
            }
        }
        write(broken, "/sys/class/drm/card0/device/mem_info_vram_total", "");
        write(broken, "/sys/fs/cgroup/memory.max", "18446744073709551615");
        write(broken, "/proc/self/limits", "Max open files 9223372036854775808 9223372036854775808 files\n");
        assertThat(of(PciChecks.of(broken), Level.WARNING))
                .containsExactly("AMD 0000:01:00.0: its largest BAR has 0 MiB");
        assertThat(of(AmdChecks.of(broken), Level.WARNING)).noneMatch(what -> what.startsWith("card0"));
        assertThat(of(KernelChecks.of(broken), Level.NOTE)).noneMatch(what -> what.contains("open files"));
        write(broken, "/sys/bus/pci/devices/0000:01:00.0/class", "");
        assertThat(PciChecks.of(broken)).as("without a GPU").isEmpty();
    }

    private static void write(KernelFiles machine, String file, String text) throws IOException {
        Files.createDirectories(machine.path(file).getParent());
        Files.writeString(machine.path(file), text);
    }

    @Test
    void thisMachineCanBeLookedAt() throws IOException {
        KernelFiles here = KernelFiles.here();
        assumeTrue(here.exists("/proc/self/mountinfo"), "no Linux with /proc");
        Path file = Files.createTempFile(root, "file", "");
        List<Finding> all = new ArrayList<>(FileChecks.of(here, file));
        assertThat(all).as("a mount").isNotEmpty();
        all.addAll(KernelChecks.of(here));
        all.addAll(PciChecks.of(here));
        all.addAll(VfioChecks.of(here));
        all.addAll(NvidiaChecks.of(here));
        all.addAll(AmdChecks.of(here));
        all.addAll(GraphicsChecks.of(here));
        assertThat(all).allSatisfy(finding -> assertThat(finding.what()).isNotBlank());
    }

    @Test
    void anIndexOfLuceneIsComparedWithTheMemory() throws IOException {
        KernelFiles small = Trees.make(root.resolve("small"), "workstation.tree", "amd64");
        write(small, "/proc/meminfo", "MemTotal:          16 kB\n");
        Path index = Files.createDirectory(root.resolve("index"));
        Files.write(index.resolve("_0_Lucene99FlatVectorsFormat_0.vec"), new byte[5 << 10]);
        assertThat(FileChecks.index(small, index)).as("no segments").isEmpty();
        Files.createFile(index.resolve("segments_1"));
        Finding fits = FileChecks.index(small, index).orElseThrow();
        assertThat(fits.what()).isEqualTo("an index of Lucene with 5KiB of full vectors");
        assertThat(fits.why()).startsWith("they fit in memory");
        Files.write(index.resolve("_1_Lucene99FlatVectorsFormat_0.vec"), new byte[3 << 10]);
        Finding tooLarge = FileChecks.index(small, index).orElseThrow();
        assertThat(tooLarge.why()).startsWith("they do not fit in memory");
        assertThat(FileChecks.of(KernelFiles.here(), index))
                .contains(FileChecks.index(KernelFiles.here(), index).orElseThrow());
    }

    private static List<String> anchors(Path page) throws IOException {
        return Files.readAllLines(page).stream()
                .filter(line -> line.startsWith("## "))
                .map(line -> line.substring(3).toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_ -]", ""))
                .map(line -> line.replace(' ', '-'))
                .toList();
    }

    @Test
    void everyFindingHasAReasonAndASectionOfTheDocumentation() throws IOException {
        List<Finding> all = new ArrayList<>();
        for (KernelFiles machine : List.of(server, workstation, lender)) {
            all.addAll(KernelChecks.of(machine));
            all.addAll(PciChecks.of(machine));
            all.addAll(VfioChecks.of(machine));
            all.addAll(NvidiaChecks.of(machine));
            all.addAll(AmdChecks.of(machine));
            all.addAll(GraphicsChecks.of(machine));
        }
        for (String file : new String[] {"/ 259:2", "/data 9:127", "/tmp 0:30"}) {
            all.addAll(ofFile(file.split(" ")[0] + "/x", file.split(" ")[1]));
        }
        Path index = Files.createDirectory(root.resolve("empty-index"));
        Files.createFile(index.resolve("segments_1"));
        all.add(FileChecks.index(server, index).orElseThrow());
        Path docs = Path.of(System.getProperty("basedir", ""))
                .toAbsolutePath()
                .getParent()
                .getParent();
        for (Finding finding : all) {
            String[] page = finding.page().split("#");
            assertThat(anchors(docs.resolve(page[0]))).as("%s", finding).contains(page[1]);
            if (finding.level() == Level.WARNING) {
                assertThat(finding.why()).as("%s", finding).isNotBlank();
                assertThat(finding.remedy()).as("%s", finding).isNotBlank();
            }
        }
    }
}
