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
    private static final String CARDS = "/sys/class/drm/";

    private AmdChecks() {}

    /** Returns findings about AMD's GPUs; none where there are none. */
    public static List<Finding> of(KernelFiles machine) {
        List<Finding> findings = new ArrayList<>();
        List<KfdGpu> gpus = KfdGpu.all(machine);
        if (!gpus.isEmpty() || PciDevice.all(machine).stream().anyMatch(PciDevice::isAmdGpu)) {
            String version =
                    machine.text(MODULE + "/version").map(text -> " " + text).orElse("");
            boolean isLoaded = machine.exists(MODULE);
            findings.add(
                    isLoaded && !gpus.isEmpty()
                            ? Finding.ok(DRIVER, DRIVER + version)
                            : Finding.warning(
                                    DRIVER,
                                    "amdgpu" + version + (isLoaded ? " shows no GPU for computing" : " is not loaded"),
                                    "HIP finds no device",
                                    "modprobe amdgpu, install the GPU's firmware, and check the kernel's log for kfd"));
        }
        gpus.forEach(gpu -> findings.add(Finding.ok(DRIVER, gpu.toString())));
        machine.names(CARDS).stream()
                .filter(name -> name.startsWith("card")) // not its render node too
                .forEach(card -> visibleMemory(machine, card, findings));
        if (!gpus.isEmpty()) {
            limits(machine, findings);
        }
        return findings;
    }

    private static Optional<Long> memory(KernelFiles machine, String card, String kind) {
        return machine.text(CARDS + card + "/device/mem_info_" + kind).flatMap(KernelFiles::number);
    }

    private static void visibleMemory(KernelFiles machine, String card, List<Finding> findings) {
        long all = memory(machine, card, "vram_total").orElse(0L);
        long visible = memory(machine, card, "vis_vram_total").orElse(all);
        String what = card + ": the processor and other devices reach " + (visible >> 20) + " MiB of " + (all >> 20);
        if (visible < all) {
            String why = "DirectGMA, RDMA and mappings are limited to that part";
            String remedy = "enable Resizable BAR and Above 4G Decoding in the firmware";
            findings.add(Finding.warning("bar", what, why, remedy));
        } else if (all > 0) {
            findings.add(Finding.ok("bar", what));
        }
    }

    private static void limits(KernelFiles machine, List<Finding> findings) {
        for (String parameter : List.of("pcie_p2p", "use_xgmi_p2p")) {
            String value = machine.text(MODULE + "/parameters/" + parameter).orElse("not there");
            if (!value.equals("Y") && !value.equals("1")) {
                findings.add(Finding.note(
                        DRIVER,
                        "amdgpu." + parameter + " is " + value,
                        "GPUs do not reach each other's memory that way",
                        "boot with amdgpu." + parameter + "=1; pcie_p2p needs a kernel with CONFIG_HSA_AMD_P2P"));
            }
        }
        machine.text("/sys/module/ttm/parameters/pages_limit")
                .flatMap(KernelFiles::number)
                .map(pages -> (pages >> 8) + " MiB (ttm.pages_limit)") // pages of 4 KiB
                .ifPresent(limit -> findings.add(Finding.ok(DRIVER, "host memory that GPUs may hold: " + limit)));
    }
}
