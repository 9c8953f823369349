// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import io.penstock.engine.kit.machine.Iommu;
import io.penstock.engine.kit.machine.KernelFiles;
import io.penstock.engine.kit.machine.PciDevice;
import io.penstock.engine.kit.machine.PciDevice.Distance;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** IOMMU, access control, distances, links and BARs: what decides over transfers from device to device. */
public final class PciChecks {

    private static final long SMALL_BAR = 256L << 20;
    private static final String TOPOLOGY = "distance";

    private PciChecks() {}

    /** Returns findings about GPUs and the NVMe and RDMA devices near them; none without a GPU. */
    public static List<Finding> of(KernelFiles machine) {
        List<PciDevice> all = PciDevice.all(machine);
        List<PciDevice> gpus = all.stream().filter(PciDevice::isGpu).toList();
        if (gpus.isEmpty()) {
            return List.of();
        }
        List<PciDevice> partners = all.stream()
                .filter(device -> device.isNvme() || device.isRdma())
                .toList();
        List<Finding> findings = new ArrayList<>();
        List<PciDevice> devices =
                Stream.concat(gpus.stream(), partners.stream()).toList();
        findings.add(iommu(machine, gpus, devices));
        acs(all, devices).ifPresent(findings::add);
        if (machine.isVirtual()) {
            findings.add(Finding.note(
                    TOPOLOGY,
                    "this is a virtual machine",
                    "the hypervisor defines its PCI topology: the distances below may differ from the hardware's",
                    ""));
        }
        gpus.forEach(gpu -> partners.stream()
                .min(Comparator.comparing(gpu::to))
                .ifPresent(nearest -> findings.add(distance(gpu, nearest))));
        if (partners.isEmpty()) {
            findings.add(Finding.note(
                    TOPOLOGY,
                    "no NVMe device and no RDMA adapter",
                    "only they move data to a GPU from peer to peer",
                    ""));
        }
        gpus.stream().filter(gpu -> !isIntegrated(gpu)).forEach(gpu -> findings.add(bar(gpu)));
        devices.forEach(device -> link(device).ifPresent(findings::add));
        return findings;
    }

    private static Finding iommu(KernelFiles machine, List<PciDevice> gpus, List<PciDevice> devices) {
        Iommu iommu = Iommu.of(machine, devices);
        String state = iommu.toString();
        boolean grace =
                machine.architecture().equals("aarch64") && gpus.stream().anyMatch(PciDevice::isNvidia);
        if (grace) {
            return iommu.translates()
                    ? Finding.ok("iommu", state)
                    : Finding.warning(
                            "iommu",
                            state,
                            "GPUDirect Storage on a Grace processor needs an IOMMU that translates",
                            "boot without iommu=off, iommu=pt and iommu.passthrough=1");
        }
        return iommu.translates()
                ? Finding.warning(
                        "iommu",
                        state,
                        "requests from device to device go through the root port instead of the switch: slower, or refused",
                        "boot with iommu=pt, or switch it off in the firmware")
                : Finding.ok("iommu", state);
    }

    /** Of the bridges above GPUs and their partners. */
    private static Optional<Finding> acs(List<PciDevice> all, List<PciDevice> devices) {
        Set<String> above = devices.stream()
                .flatMap(device ->
                        device.route().stream().limit(Math.max(0, device.route().size() - 1)))
                .collect(Collectors.toSet());
        List<PciDevice> bridges = all.stream()
                .filter(device -> device.isBridge() && above.contains(device.address()))
                .toList();
        if (bridges.isEmpty()) {
            return Optional.empty();
        }
        String on = bridges.stream()
                .filter(bridge -> bridge.acs() == PciDevice.Acs.ON)
                .map(PciDevice::address)
                .collect(Collectors.joining(", "));
        if (!on.isEmpty()) {
            return Optional.of(Finding.warning(
                    "acs",
                    "access control services (ACS) redirect requests at " + on,
                    "requests from device to device go up to the root complex instead of through the switch",
                    "disable ACS in the firmware, or clear it at each boot: setpci -s BRIDGE ECAP_ACS+6.w=0"));
        }
        boolean unreadable = bridges.stream().anyMatch(bridge -> bridge.acs() == PciDevice.Acs.UNREADABLE);
        return Optional.of(
                unreadable
                        ? Finding.note("acs", "only root reads whether ACS is on", "", "run doctor as root")
                        : Finding.ok("acs", "access control services (ACS) redirect nothing"));
    }

    private static Finding distance(PciDevice gpu, PciDevice nearest) {
        Distance distance = gpu.to(nearest);
        String what = gpu + ": the nearest of NVMe and RDMA, " + nearest + ", is " + distance;
        return switch (distance) {
            case SWITCH -> Finding.ok(TOPOLOGY, what);
            case ROOT_COMPLEX, NODE, UNKNOWN ->
                Finding.note(
                        TOPOLOGY,
                        what,
                        "their transfers pass the processor, whose root complex limits the rate of transfers from peer to peer",
                        "devices below one switch are best");
            case FAR ->
                Finding.warning(
                        TOPOLOGY,
                        what,
                        "their transfers cross the link between processors",
                        "move one of them to the other's processor, or use a GPU that is nearer");
        };
    }

    /**
     * Returns whether a GPU is Intel's within the processor, which is always there: its memory is the processor's, its
     * BAR fixed.
     */
    private static boolean isIntegrated(PciDevice gpu) {
        return gpu.vendor().equals("0x8086") && gpu.address().equals("0000:00:02.0");
    }

    private static Finding bar(PciDevice gpu) {
        long bytes = gpu.largestBar();
        String what = gpu + ": its largest BAR has " + (bytes >> 20) + " MiB";
        return bytes > SMALL_BAR
                ? Finding.ok("bar", what)
                : Finding.warning(
                        "bar",
                        what,
                        "other devices and the processor reach only so much of its memory at a time",
                        "enable Resizable BAR and Above 4G Decoding in the firmware");
    }

    private static Optional<Finding> link(PciDevice device) {
        Optional<Integer> lanes = device.lanes("current");
        Optional<Integer> mostLanes = device.lanes("max");
        Optional<Double> speed = device.speed("current");
        Optional<Double> mostSpeed = device.speed("max");
        if (lanes.isEmpty() || mostLanes.isEmpty() || speed.isEmpty() || mostSpeed.isEmpty()) {
            return Optional.empty();
        }
        String what = device + ": " + lanes.get() + " lanes of " + mostLanes.get() + ", " + speed.get() + " GT/s of "
                + mostSpeed.get();
        if (lanes.get() < mostLanes.get()) {
            return Optional.of(Finding.warning(
                    "link",
                    what,
                    "the link is narrower than the device",
                    "use a slot with all lanes, and seat it anew"));
        }
        if (speed.get() < mostSpeed.get()) {
            return Optional.of(Finding.note(
                    "link",
                    what,
                    device.isGpu() ? "idle GPUs slow their link down" : "the link is slower than the device",
                    device.isGpu() ? "look again under load" : "use a slot of the device's generation"));
        }
        return Optional.of(Finding.ok("link", what));
    }
}
