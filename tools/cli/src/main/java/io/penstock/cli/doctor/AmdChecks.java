// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import io.penstock.engine.kit.machine.KernelFiles;
import io.penstock.engine.kit.machine.KfdGpu;
import io.penstock.engine.kit.machine.PciDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** AMD's driver and GPUs, as {@code rocminfo} reports them, and the limits of amdgpu. */
public final class AmdChecks {

    private static final String DRIVER = "amdgpu";
    private static final String MODULE = "/sys/module/amdgpu";
    private static final String AMD = "0x1002";
    private static final long PAGE_BYTES = 4096; // ttm counts in pages of x86

    private AmdChecks() {}

    /** Returns findings about AMD's GPUs; none where there are none. */
    public static List<Finding> of(KernelFiles machine) {
        List<Finding> findings = new ArrayList<>();
        List<KfdGpu> gpus = KfdGpu.all(machine);
        if (!gpus.isEmpty()
                || PciDevice.all(machine).stream()
                        .anyMatch(device -> device.isGpu() && device.vendor().equals(AMD))) {
            findings.add(driver(machine, gpus.isEmpty()));
        }
        gpus.forEach(gpu -> findings.add(Finding.ok(DRIVER, gpu.toString())));
        for (String card : machine.names("/sys/class/drm")) {
            if (card.startsWith("card")) { // not its render node too
                visibleMemory(machine, "/sys/class/drm/" + card + "/device", card, findings);
            }
        }
        if (!gpus.isEmpty()) {
            limits(machine, findings);
        }
        return findings;
    }

    private static Finding driver(KernelFiles machine, boolean showsNone) {
        if (!machine.exists(MODULE)) {
            return Finding.warning(
                    DRIVER,
                    "there is an AMD GPU, and amdgpu is not loaded",
                    "no program can use it",
                    "modprobe amdgpu; install the firmware of the GPU (firmware-amd-graphics), or AMD's amdgpu-dkms");
        }
        String version =
                machine.text(MODULE + "/version").map(text -> " " + text).orElse(" of the kernel");
        return showsNone
                ? Finding.warning(
                        DRIVER,
                        "amdgpu" + version + " is loaded, and shows no GPU for computing (" + KfdGpu.NODES + ")",
                        "HIP finds no device",
                        "check the kernel's log for kfd: the GPU must be one that it supports, and the kernel have"
                                + " CONFIG_HSA_AMD")
                : Finding.ok(DRIVER, "amdgpu" + version);
    }

    private static void visibleMemory(KernelFiles machine, String device, String card, List<Finding> findings) {
        machine.text(device + "/mem_info_vram_total")
                .flatMap(KernelFiles::number)
                .ifPresent(all -> {
                    long visible = machine.text(device + "/mem_info_vis_vram_total")
                            .flatMap(KernelFiles::number)
                            .orElse(all);
                    String what = card + ": the processor and other devices reach " + (visible >> 20) + " MiB of "
                            + (all >> 20);
                    findings.add(
                            visible >= all
                                    ? Finding.ok("bar", what)
                                    : Finding.warning(
                                            "bar",
                                            what,
                                            "DirectGMA, RDMA and mappings are limited to that part",
                                            "enable Resizable BAR and Above 4G Decoding in the firmware"));
                });
    }

    /** What the module's parameters, and the kernel's, take from peers. */
    private static void limits(KernelFiles machine, List<Finding> findings) {
        Optional<String> peers = machine.text(MODULE + "/parameters/pcie_p2p");
        if (peers.isEmpty() || peers.get().equals("N")) {
            findings.add(Finding.note(
                    DRIVER,
                    peers.isEmpty() ? "amdgpu has no pcie_p2p" : "amdgpu.pcie_p2p is off",
                    "GPUs do not reach each other's memory by PCIe",
                    peers.isEmpty() ? "a kernel with CONFIG_HSA_AMD_P2P" : "boot with amdgpu.pcie_p2p=1"));
        }
        if (machine.text(MODULE + "/parameters/use_xgmi_p2p").orElse("1").equals("0")) {
            findings.add(Finding.note(
                    DRIVER,
                    "amdgpu.use_xgmi_p2p is off",
                    "GPUs do not reach each other's memory by xGMI",
                    "boot with amdgpu.use_xgmi_p2p=1"));
        }
        machine.text("/sys/module/ttm/parameters/pages_limit")
                .flatMap(KernelFiles::number)
                .ifPresent(pages -> findings.add(Finding.ok(
                        DRIVER,
                        "host memory that GPUs may hold: " + (pages * PAGE_BYTES >> 20) + " MiB (ttm.pages_limit)")));
    }
}
