// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import io.penstock.Option;
import io.penstock.engine.kit.machine.KernelFiles;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** io_uring, the limits of the process and its control groups, and huge pages. */
public final class KernelChecks {

    private static final long MIB = 1 << 20;
    private static final long LEAST_LOCKED_BYTES = 64 * MIB;
    private static final long LEAST_FILES = 4096;
    private static final long NO_MEMORY_LIMIT = 1L << 62; // the first version has a limit of nearly 2^63 instead
    private static final String URING = "io_uring";
    private static final String LIMITS = "limits";
    private static final String HUGE_PAGES = "huge-pages";

    private KernelChecks() {}

    /** Returns what the kernel and this process' limits allow. */
    public static List<Finding> of(KernelFiles machine) {
        List<Finding> findings = new ArrayList<>();
        uring(machine).ifPresent(findings::add);
        if (machine.value("/proc/self/status", "Seccomp").filter("2"::equals).isPresent()) {
            findings.add(Finding.note(
                    URING,
                    "a seccomp filter is in force, such as a container's",
                    "it may refuse io_uring, or answer as if the kernel did not know it",
                    "allow io_uring_setup, io_uring_enter and io_uring_register in the profile"));
        }
        locked(machine).ifPresent(findings::add);
        files(machine).ifPresent(findings::add);
        memory(machine).ifPresent(findings::add);
        transparent(machine).ifPresent(findings::add);
        machine.value("/proc/meminfo", "HugePages_Total")
                .filter(count -> !count.equals("0"))
                .ifPresent(count -> findings.add(Finding.note(
                        HUGE_PAGES,
                        count + " huge pages are reserved (vm.nr_hugepages)",
                        "Penstock uses none of them: its memory has transparent huge pages",
                        "")));
        return findings;
    }

    private static Optional<Finding> memory(KernelFiles machine) {
        return memoryLimits(machine).stream()
                .min(Comparator.comparingLong(MemoryLimit::bytes))
                .map(limit -> Finding.note(
                        LIMITS,
                        "the memory of the control group " + limit.group() + " is limited to "
                                + Option.show(limit.bytes()),
                        "buffers, pinned staging buffers and the page cache of its files count; the kernel kills a process"
                                + " whose buffers take more",
                        "docker run --memory; MemoryMax in a systemd unit"));
    }

    /** Returns the limits of the control groups of this process and of the groups above them, of both versions. */
    private static List<MemoryLimit> memoryLimits(KernelFiles machine) {
        List<MemoryLimit> limits = new ArrayList<>();
        for (String line : machine.text("/proc/self/cgroup").orElse("").lines().toList()) {
            String[] hierarchy = line.split(":", 3); // its number, its controllers, the path of the group
            if (hierarchy.length < 3) {
                continue;
            }
            if (hierarchy[1].isEmpty()) {
                addLimits(limits, machine, "/sys/fs/cgroup%s/memory.max", hierarchy[2]);
            } else if (List.of(hierarchy[1].split(",")).contains("memory")) {
                addLimits(limits, machine, "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", hierarchy[2]);
            }
        }
        return limits;
    }

    private static void addLimits(List<MemoryLimit> limits, KernelFiles machine, String file, String lowest) {
        for (String group = lowest; !group.isEmpty(); group = parent(group)) {
            String name = group;
            machine.text(file.formatted(group))
                    .flatMap(KernelFiles::number) // or "max"
                    .filter(bytes -> bytes < NO_MEMORY_LIMIT)
                    .ifPresent(bytes -> limits.add(new MemoryLimit(name, bytes)));
        }
    }

    /** The group above; empty above the root. */
    private static String parent(String group) {
        int end = group.lastIndexOf('/');
        return end > 0 ? group.substring(0, end) : group.length() > 1 ? "/" : "";
    }

    /** The limit of a control group of the process. */
    private record MemoryLimit(String group, long bytes) {}

    private static Optional<Finding> transparent(KernelFiles machine) {
        return machine.text("/sys/kernel/mm/transparent_hugepage/enabled")
                .map(modes -> modes.contains("[never]")
                        ? Finding.note(
                                HUGE_PAGES,
                                "transparent huge pages are off",
                                "memory has pages of 4 KiB: more page faults, more pages to pin, and more entries of an IOMMU",
                                "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
                        : Finding.ok(HUGE_PAGES, "transparent huge pages are on: " + modes));
    }

    private static Optional<Finding> uring(KernelFiles machine) {
        return machine.text("/proc/sys/kernel/io_uring_disabled").map(value -> switch (value) {
            case "0" -> Finding.ok(URING, "io_uring is enabled for every process (kernel.io_uring_disabled = 0)");
            case "1" ->
                Finding.note(
                        URING,
                        "io_uring is for processes with CAP_SYS_ADMIN, or of one group (kernel.io_uring_disabled = 1)",
                        "others use a pool of blocking calls: slower at small reads, otherwise the same",
                        "sysctl kernel.io_uring_disabled=0, or name the user's group in kernel.io_uring_group");
            default ->
                Finding.warning(
                        URING,
                        "io_uring is switched off (kernel.io_uring_disabled = " + value + ")",
                        "a pool of blocking calls is used: slower at small reads, otherwise the same",
                        "sysctl kernel.io_uring_disabled=0");
        });
    }

    /** The soft limit of a line such as {@code Max locked memory 8388608 8388608 bytes}; -1 for none. */
    private static Optional<Long> limit(KernelFiles machine, String name) {
        return machine.value("/proc/self/limits", name)
                .map(values -> values.split("\\s+")[0])
                .flatMap(soft -> soft.equals("unlimited") ? Optional.of(-1L) : KernelFiles.number(soft));
    }

    private static Optional<Finding> locked(KernelFiles machine) {
        return limit(machine, "Max locked memory")
                .map(
                        bytes -> bytes < 0 || bytes >= LEAST_LOCKED_BYTES
                                ? Finding.ok(LIMITS, "locked memory: " + (bytes < 0 ? "no limit" : Option.show(bytes)))
                                : Finding.note(
                                        LIMITS,
                                        "locked memory is limited to " + Option.show(bytes),
                                        "io_uring registers no more than that, unless the process has CAP_IPC_LOCK; the rest is used"
                                                + " unregistered, at more processor time. VFIO, for the backend nvme, maps no more",
                                        "ulimit -l unlimited; docker run --ulimit memlock=-1; LimitMEMLOCK=infinity in a systemd unit"));
    }

    private static Optional<Finding> files(KernelFiles machine) {
        return limit(machine, "Max open files")
                .filter(count -> count >= 0 && count < LEAST_FILES)
                .map(count -> Finding.note(
                        LIMITS,
                        count + " open files at most",
                        "programs with many files need more",
                        "ulimit -n 65536"));
    }
}
