// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import io.penstock.engine.kit.machine.KernelFiles;
import io.penstock.engine.kit.machine.PciDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** NVIDIA's driver, nvidia-fs and its statistics, and adapters with RDMA: as {@code gdscheck -p} reports them. */
public final class NvidiaChecks {

    private static final String DRIVER = "nvidia-driver";
    private static final String FS = "nvidia-fs";
    private static final String NETWORK = "rdma";

    private NvidiaChecks() {}

    /** Returns findings about NVIDIA's GPUs and about adapters with RDMA; none where there are none. */
    public static List<Finding> of(KernelFiles machine) {
        List<Finding> findings = new ArrayList<>();
        boolean gpu = PciDevice.all(machine).stream().anyMatch(device -> device.isGpu() && device.isNvidia());
        if (gpu) {
            findings.add(driver(machine));
            findings.add(nvidiaFs(machine));
            machine.text("/proc/driver/nvidia-fs/stats").ifPresent(stats -> findings.addAll(statistics(stats)));
        }
        for (String adapter : machine.names("/sys/class/infiniband")) {
            findings.add(adapter(machine, adapter));
        }
        if (gpu && !machine.names("/sys/class/infiniband").isEmpty()) {
            findings.add(ofed(machine));
            findings.add(
                    machine.exists("/sys/module/nvidia_peermem")
                            ? Finding.ok(NETWORK, "nvidia-peermem is loaded: adapters reach the memory of GPUs")
                            : Finding.note(
                                    NETWORK,
                                    "nvidia-peermem is not loaded",
                                    "adapters reach the memory of GPUs by dma-bufs only",
                                    "modprobe nvidia-peermem, if the adapter's software needs it"));
        }
        return findings;
    }

    private static Finding driver(KernelFiles machine) {
        Optional<String> version = machine.value("/proc/driver/nvidia/version", "NVRM version");
        return version.map(text -> Finding.ok(
                        DRIVER,
                        (text.contains("Open Kernel Module")
                                        ? "NVIDIA's open kernel module "
                                        : "NVIDIA's kernel module ")
                                + text.replaceFirst(".*?(\\d+\\.\\d+(\\.\\d+)?).*", "$1")))
                .orElseGet(() -> Finding.warning(
                        DRIVER,
                        "there is an NVIDIA GPU, and its kernel module is not loaded",
                        "no program can use it",
                        "install NVIDIA's driver; modprobe nvidia; start a container with the NVIDIA runtime"));
    }

    private static Finding nvidiaFs(KernelFiles machine) {
        Optional<String> version = machine.text("/sys/module/nvidia_fs/version")
                .or(() -> machine.value("/proc/driver/nvidia-fs/version", "version"));
        if (version.isPresent() || machine.exists("/proc/driver/nvidia-fs")) {
            return Finding.ok(FS, "nvidia-fs " + version.orElse("of unknown version") + " is loaded");
        }
        return Finding.note(
                FS,
                "nvidia-fs is not loaded",
                "no GPUDirect Storage by it: files go through pinned staging buffers, or from peer to peer by the kernel"
                        + " (use_pci_p2pdma in cufile.json)",
                "install nvidia-gds for this kernel and driver; modprobe nvidia_fs");
    }

    /** Returns its counters of memory and errors, and whether it counts operations. */
    private static List<Finding> statistics(String stats) {
        List<Finding> findings = new ArrayList<>();
        String shown = stats.lines()
                .map(String::strip)
                .filter(line -> line.startsWith("Active Shadow-Buffer")
                        || line.startsWith("Reads")
                        || line.startsWith("Writes"))
                .map(line -> line.replaceAll("\\s+", " "))
                .collect(Collectors.joining("; "));
        if (!shown.isEmpty()) {
            findings.add(Finding.ok(FS, "nvidia-fs: " + shown));
        }
        if (stats.lines().anyMatch(line -> line.matches("\\s*IO stats: Disabled.*"))) {
            findings.add(Finding.note(
                    FS,
                    "nvidia-fs counts no operations",
                    "its statistics stay 0",
                    "echo 1 > /sys/module/nvidia_fs/parameters/rw_stats_enabled, at a small cost"));
        }
        return findings;
    }

    private static Finding adapter(KernelFiles machine, String name) {
        String ports = "/sys/class/infiniband/" + name + "/ports";
        List<String> described = new ArrayList<>();
        boolean active = false;
        boolean usable = false;
        for (String port : machine.names(ports)) {
            String state = machine.text(ports + "/" + port + "/state").orElse("unknown");
            String layer = machine.text(ports + "/" + port + "/link_layer").orElse("unknown");
            boolean second = machine.names(ports + "/" + port + "/gid_attrs/types").stream()
                    .anyMatch(gid -> machine.text(ports + "/" + port + "/gid_attrs/types/" + gid)
                            .filter(type -> type.contains("RoCE v2"))
                            .isPresent());
            boolean up = state.contains("ACTIVE");
            active |= up;
            usable |= up && (second || !layer.equals("Ethernet"));
            described.add("port " + port + " " + state.replaceFirst("\\d+: ", "") + ", "
                    + (layer.equals("Ethernet") ? "Ethernet" + (second ? ", RoCE v2" : ", no RoCE v2") : layer)
                    + machine.text(ports + "/" + port + "/rate")
                            .map(rate -> ", " + rate)
                            .orElse(""));
        }
        String what = name + ": " + String.join("; ", described);
        if (usable) {
            return Finding.ok(NETWORK, what);
        }
        return Finding.note(
                NETWORK,
                what,
                active
                        ? "GPUDirect Storage over Ethernet needs RoCE v2"
                        : "no port is active: no remote storage is reached through it",
                active ? "set RoCE v2 as the adapter's mode" : "");
    }

    private static Finding ofed(KernelFiles machine) {
        return machine.text("/sys/module/mlx5_core/version")
                .map(version -> Finding.ok(NETWORK, "OFED's mlx5_core " + version))
                .orElseGet(() -> Finding.note(
                        NETWORK,
                        "the mlx5_core of the kernel, not of OFED",
                        "NVIDIA supports GPUDirect Storage to remote storage with MLNX_OFED 5.4 or later, or DOCA",
                        "install DOCA-OFED"));
    }
}
