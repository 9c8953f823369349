// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What stands between the memory of a GPU and other devices, as {@link io.penstock.PeerExport#limits} returns it.
 *
 * @param machine that both are part of
 * @param address of the GPU, {@code 0000:1b:00.0}
 * @param bytes the size of the GPU's memory
 */
public record PeerLimits(KernelFiles machine, String address, long bytes) {

    private static final String BAR_REMEDY =
            "enable Resizable BAR and Above 4G Decoding in the firmware (docs/doctor.md#bar)";

    /** Creates the limits of a GPU, whose address may have upper-case digits, as CUDA writes them. */
    public PeerLimits {
        address = address.toLowerCase(Locale.ROOT);
    }

    /** Returns limits as a part of a message, between two texts; an empty string if there are none. */
    public static String message(List<String> limits, String before, String after) {
        return limits.isEmpty() ? "" : before + "Limits of this machine: " + String.join(". ", limits) + after;
    }

    /** Returns why no other device can reach a dma-buf of so many bytes; empty if nothing is known to prevent it. */
    public Optional<String> obstacle(long exported) {
        return bar().filter(bar -> exported > bar)
                .map(bar -> "the largest BAR of " + address + " has " + mebibytes(bar)
                        + ", and other devices reach the memory through it; " + BAR_REMEDY
                        + ", or export smaller buffers");
    }

    /** Returns the limits of the GPU itself, and the limits between it and other devices. */
    public List<String> of(String... importers) {
        List<String> limits = new ArrayList<>();
        bar().filter(bar -> bar < bytes)
                .ifPresent(bar -> limits.add("the largest BAR of " + address + " has " + mebibytes(bar)
                        + ", its memory " + mebibytes(bytes)
                        + ": all exports together cannot be more than the BAR; " + BAR_REMEDY));
        if (importers.length == 0) {
            iommu(Iommu.of(machine), "").ifPresent(limits::add);
        }
        for (String importer : importers) {
            between(importer.toLowerCase(Locale.ROOT), limits);
        }
        return limits;
    }

    private void between(String importer, List<String> limits) {
        Optional<PciDevice> found = device(importer);
        if (found.isEmpty()) {
            limits.add("the kernel shows no PCI device " + importer + ": nothing is known of its way to the memory");
            return;
        }
        PciDevice device = found.get();
        if (device.driver().equals(Optional.of("vfio-pci"))) {
            limits.add("VFIO lends " + importer + ", so the IOMMU translates its addresses: the kernel must map the"
                    + " dma-buf there, and requests go through the root port; only another driver avoids that");
        } else {
            iommu(Iommu.of(machine, device), " for " + importer).ifPresent(limits::add);
        }
        if (device.isAmdGpu()
                && machine.text("/sys/module/amdgpu/parameters/pcie_p2p").equals(Optional.of("N"))) {
            limits.add("amdgpu.pcie_p2p is off: " + importer + " does not reach the memory of other GPUs by PCIe; boot"
                    + " with amdgpu.pcie_p2p=1 (docs/doctor.md#amdgpu)");
        }
        device(address).map(gpu -> gpu.to(device)).ifPresent(distance -> {
            if (distance.compareTo(PciDevice.Distance.ROOT_COMPLEX) > 0) {
                limits.add(address + " and " + importer + " are not below one root complex, but " + distance
                        + ": whether requests pass from one to the other depends on the processor, and they are slower;"
                        + " use slots of one root complex (docs/doctor.md#distance)");
            }
        });
    }

    private Optional<String> iommu(Iommu iommu, String whose) {
        if (isCoherent()) {
            return iommu.translates()
                    ? Optional.empty()
                    : Optional.of(iommu + whose + ": a Grace processor needs one that translates; boot without"
                            + " iommu=off, iommu=pt and iommu.passthrough=1 (docs/doctor.md#iommu)");
        }
        return iommu.translates()
                ? Optional.of(iommu + whose + ": requests from device to device go through the root port instead of a"
                        + " switch, slower, or are refused; boot with iommu=pt, or switch it off in the firmware"
                        + " (docs/doctor.md#iommu)")
                : Optional.empty();
    }

    /**
     * Returns the bytes of the window to the GPU's memory; empty if unknown, or if a processor's own link leads there.
     */
    private Optional<Long> bar() {
        return device(address)
                .filter(gpu -> !isCoherent())
                .map(PciDevice::largestBar)
                .filter(bar -> bar > 0);
    }

    /** Returns whether the processor is NVIDIA's Grace, or may be. */
    private boolean isCoherent() {
        return machine.architecture().equals("aarch64");
    }

    private Optional<PciDevice> device(String wanted) {
        return PciDevice.all(machine).stream()
                .filter(device -> device.address().equals(wanted))
                .findFirst();
    }

    private static String mebibytes(long bytes) {
        return (bytes >> 20) + " MiB";
    }
}
