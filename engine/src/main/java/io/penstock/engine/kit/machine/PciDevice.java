// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.machine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;

/**
 * A PCI device, as sysfs describes it.
 *
 * @param machine the machine that it is part of
 * @param address {@code 0000:1b:00.0}
 * @param route from the host bridge ({@code pci0000:15}) over the bridges to the device itself
 */
public record PciDevice(KernelFiles machine, String address, List<String> route) {

    private static final String DEVICES = "/sys/bus/pci/devices";
    private static final int FIRST_EXTENDED = 0x100;
    private static final int ACS_CAPABILITY = 0x000D;
    private static final int ACS_CONTROL = 6; // its offset in the capability
    private static final int ACS_REDIRECTS = 0x1C; // requests, completions, and upstream forwarding
    private static final int BARS = 6;

    /** Returns the devices of a machine. */
    public static List<PciDevice> all(KernelFiles machine) {
        return machine.names(DEVICES).stream()
                .map(address -> new PciDevice(machine, address, route(machine, address)))
                .toList();
    }

    private static List<String> route(KernelFiles machine, String address) {
        return machine.link(DEVICES + "/" + address).stream()
                .flatMap(link -> StreamSupport.stream(link.spliterator(), false))
                .map(Path::toString)
                .filter(name -> name.matches("pci[0-9a-f:]+|[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]"))
                .toList();
    }

    /** Returns the text of one of its files. */
    public Optional<String> text(String name) {
        return machine.text(DEVICES + "/" + address + "/" + name);
    }

    private int number(String name) {
        return text(name).flatMap(KernelFiles::number).map(Long::intValue).orElse(-1);
    }

    /** Returns base class and subclass. */
    private int kind() {
        return number("class") >> 8;
    }

    /** Returns the number of its vendor, such as {@code 0x10de}; an empty string if unknown. */
    public String vendor() {
        return text("vendor").orElse("");
    }

    /** Returns whether NVIDIA made it. */
    public boolean isNvidia() {
        return vendor().equals("0x10de");
    }

    /** Returns whether it is a GPU; the display adapter of a management controller is none. */
    public boolean isGpu() {
        int base = kind() >> 8;
        return (base == 0x03 || kind() == 0x1200)
                && List.of("0x10de", "0x1002", "0x8086").contains(vendor());
    }

    /** Returns whether it is a GPU of AMD. */
    public boolean isAmdGpu() {
        return isGpu() && vendor().equals("0x1002");
    }

    /** Returns whether it is an NVMe controller. */
    public boolean isNvme() {
        return kind() == 0x0108;
    }

    /** Returns whether it is an adapter with RDMA. */
    public boolean isRdma() {
        return !machine.names(DEVICES + "/" + address + "/infiniband").isEmpty();
    }

    /** Returns whether it is a bridge to other devices. */
    public boolean isBridge() {
        return kind() == 0x0604;
    }

    /** Returns its NUMA node; -1 if the machine has only one, or the node is unknown. */
    public int numaNode() {
        return number("numa_node");
    }

    /** Returns the driver of the kernel that has it. */
    public Optional<String> driver() {
        return machine.linkName(DEVICES + "/" + address + "/driver");
    }

    /** Returns the number of its IOMMU group; empty if no IOMMU is between it and memory. */
    public Optional<String> iommuGroup() {
        return machine.linkName(DEVICES + "/" + address + "/iommu_group");
    }

    /** Returns the bytes of its largest BAR; 0 if it has none. */
    public long largestBar() {
        long largest = 0;
        for (String line : text("resource").orElse("").lines().limit(BARS).toList()) {
            String[] range = line.split("\\s+");
            if (range.length == 3) {
                long start = KernelFiles.number(range[0]).orElse(0L);
                long end = KernelFiles.number(range[1]).orElse(0L);
                largest = Math.max(largest, end == 0 ? 0 : end - start + 1);
            }
        }
        return largest;
    }

    /** Returns the lanes of its link; empty if unknown, as in many virtual machines. */
    public Optional<Integer> lanes(String which) {
        return text(which + "_link_width")
                .flatMap(KernelFiles::number)
                .map(Long::intValue)
                .filter(lanes -> lanes > 0 && lanes < 255);
    }

    /** Returns the transfers per second of a lane, in 10^9. */
    public Optional<Double> speed(String which) {
        return text(which + "_link_speed")
                .filter(text -> text.matches("\\d+(\\.\\d+)? GT/s.*"))
                .map(text -> Double.valueOf(text.split(" ")[0]));
    }

    /** Whether access control services redirect peer-to-peer requests. */
    public enum Acs {
        /** There are none. */
        ABSENT,
        /** They do not. */
        OFF,
        /** They do. */
        ON,
        /** The process is not root: only root can read beyond the first 64 bytes of the configuration space. */
        UNREADABLE
    }

    /** Returns what its access control services do. */
    public Acs acs() {
        byte[] bytes = machine.bytes(DEVICES + "/" + address + "/config").orElse(new byte[0]);
        if (bytes.length <= FIRST_EXTENDED) {
            return bytes.length == FIRST_EXTENDED ? Acs.ABSENT : Acs.UNREADABLE; // 256 bytes: not PCI Express
        }
        ByteBuffer config = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int at = FIRST_EXTENDED;
        for (int hops = 0; hops < bytes.length / 8 && at >= FIRST_EXTENDED && at + 8 <= bytes.length; hops++) {
            int header = config.getInt(at);
            if ((header & 0xFFFF) == ACS_CAPABILITY) {
                return (config.getShort(at + ACS_CONTROL) & ACS_REDIRECTS) == 0 ? Acs.OFF : Acs.ON;
            }
            at = header >>> 20;
        }
        return Acs.ABSENT;
    }

    /** How close two devices are, the closest first. */
    public enum Distance {
        /** The bridge that both are below is a switch. */
        SWITCH("below one PCIe switch"),
        /** They share a host bridge. */
        ROOT_COMPLEX("below one root complex"),
        /** They share a NUMA node. */
        NODE("on one NUMA node"),
        /** They share nothing. */
        FAR("on different NUMA nodes"),
        /** The kernel does not describe it. */
        UNKNOWN("at an unknown distance");

        private final String words;

        Distance(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /** Returns how close it is to another device of the machine. */
    public Distance to(PciDevice other) {
        List<String> shared = new ArrayList<>();
        for (int i = 0;
                i < Math.min(route.size(), other.route.size()) && route.get(i).equals(other.route.get(i));
                i++) {
            if (route.get(i).startsWith("pci")) { // a host bridge; a VMD has one more, whose ports are the processor's
                shared.clear();
            }
            shared.add(route.get(i));
        }
        // The host bridge, the root port, and the switch's upstream port.
        if (shared.size() >= 3) {
            return Distance.SWITCH;
        }
        if (!shared.isEmpty()) {
            return Distance.ROOT_COMPLEX;
        }
        if (numaNode() < 0 || other.numaNode() < 0) {
            return Distance.UNKNOWN;
        }
        return numaNode() == other.numaNode() ? Distance.NODE : Distance.FAR;
    }

    @Override
    public String toString() {
        String model = isNvidia()
                ? machine.value("/proc/driver/nvidia/gpus/" + address + "/information", "Model")
                        .orElse("NVIDIA")
                : isGpu() ? (vendor().equals("0x1002") ? "AMD" : "Intel") : isNvme() ? "NVMe" : isRdma() ? "RDMA" : "";
        return (model + " " + address).strip();
    }
}
