// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

import io.penstock.Option;
import io.penstock.engine.kit.machine.KernelFiles;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The file system and the device of a file. */
public final class FileChecks {

    private static final String FILE_SYSTEM = "file-system";
    private static final String STORAGE = "device";
    private static final String UDEV = "udev";
    private static final String LUCENE = "lucene";
    private static final int S_IFMT = 0xf000;
    private static final int S_IFBLK = 0x6000;

    private FileChecks() {}

    /** A line of mountinfo. */
    private record Mount(String point, String options, String type, String source, String superOptions) {

        private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

        int depth() {
            return Path.of(point).getNameCount();
        }

        static Optional<Mount> parse(String line) {
            String[] halves = line.split(" - ", 2);
            String[] left = halves[0].split(" ");
            String[] right = halves.length < 2 ? new String[0] : halves[1].split(" ");
            return left.length < 6 || right.length < 3
                    ? Optional.empty()
                    : Optional.of(new Mount(decoded(left[4]), left[5], right[0], decoded(right[1]), right[2]));
        }

        /** Decodes the blanks, line ends and backslashes of a name, which the kernel writes as three octal digits. */
        private static String decoded(String name) {
            return OCTAL.matcher(name)
                    .replaceAll(code ->
                            Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(code.group(1), 8))));
        }
    }

    /**
     * Returns findings about the place of an existing file, or about a block device itself.
     *
     * @throws IOException if the file's attributes cannot be read
     */
    public static List<Finding> of(KernelFiles machine, Path file) throws IOException {
        boolean block = isBlockDevice(file);
        long device;
        try {
            device = number(file, block ? "unix:rdev" : "unix:dev");
        } catch (UnsupportedOperationException e) { // not a Unix
            return List.of();
        }
        long major = (device >>> 8 & 0xFFF) | (device >>> 32 & 0xFFFFF000L);
        long minor = (device & 0xFF) | (device >>> 12 & 0xFFFFFF00L);
        if (block) {
            return ofDevice(machine, major + ":" + minor);
        }
        List<Finding> findings = of(machine, file.toRealPath(), major + ":" + minor);
        index(machine, file).ifPresent(findings::add);
        return findings;
    }

    /** An index of Lucene: whether its vectors are more than the page cache can keep. */
    static Optional<Finding> index(KernelFiles machine, Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return Optional.empty();
        }
        boolean found = false;
        long vectors = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "{segments_*,*.vec}")) {
            for (Path file : files) {
                found |= String.valueOf(file.getFileName()).startsWith("segments_");
                vectors += file.toString().endsWith(".vec") ? Files.size(file) : 0;
            }
        }
        if (!found) {
            return Optional.empty();
        }
        long memory = machine.value("/proc/meminfo", "MemTotal")
                .map(total -> total.replace(" kB", ""))
                .flatMap(KernelFiles::number)
                .map(kib -> kib << 10)
                .orElse(Long.MAX_VALUE);
        boolean fits = vectors < memory / 2; // the rest of the index, heaps and others need memory, too
        return Optional.of(Finding.note(
                LUCENE,
                "an index of Lucene with " + Option.show(vectors) + " of full vectors",
                fits
                        ? "they fit in memory: MMapDirectory reads them faster than PenstockDirectory"
                        : "they do not fit in memory: PenstockDirectory merges them past the page cache, and rescores in one"
                                + " batch, where io_uring is permitted",
                ""));
    }

    /**
     * Returns whether a file is a block device.
     *
     * @throws IOException if the file's attributes cannot be read
     */
    public static boolean isBlockDevice(Path file) throws IOException {
        try {
            return (number(file, "unix:mode") & S_IFMT) == S_IFBLK;
        } catch (UnsupportedOperationException e) { // not a Unix
            return false;
        }
    }

    private static long number(Path file, String attribute) throws IOException {
        return ((Number) Files.getAttribute(file, attribute)).longValue();
    }

    /** Same, of a file on the device of that number. */
    static List<Finding> of(KernelFiles machine, Path file, String device) {
        List<Finding> findings = new ArrayList<>();
        // By the mount point: an overlay and a subvolume of btrfs have files of other device numbers than their own.
        machine.text("/proc/self/mountinfo")
                .orElse("")
                .lines()
                .flatMap(line -> Mount.parse(line).stream())
                .filter(mount -> file.startsWith(mount.point()))
                .reduce((first, later) -> later.depth() >= first.depth() ? later : first) // which hides the first
                .ifPresent(mount -> findings.add(mount(mount)));
        findings.addAll(ofDevice(machine, device));
        return findings;
    }

    private static List<Finding> ofDevice(KernelFiles machine, String device) {
        String node = "/sys/dev/block/" + device;
        return machine.link(node)
                .map(link -> List.of(storage(machine, node, link), udev(machine, device)))
                .orElse(List.of());
    }

    private static Finding mount(Mount mount) {
        String all = mount.options() + "," + mount.superOptions();
        String what = mount.type() + " on " + mount.source() + " at " + mount.point() + " (" + all + ")";
        return switch (mount.type()) {
            case "ext4" ->
                all.contains("data=journal")
                        ? Finding.warning(
                                FILE_SYSTEM,
                                what,
                                "with data=journal there is no direct I/O: data goes through the page cache",
                                "mount with data=ordered")
                        : Finding.ok(FILE_SYSTEM, what);
            case "xfs" -> Finding.ok(FILE_SYSTEM, what);
            case "tmpfs", "ramfs" ->
                Finding.note(
                        FILE_SYSTEM,
                        what,
                        "its files are memory: cuFile does not register them, and most kernels refuse direct I/O",
                        "a file on a disk, for what is to be measured or moved from peer to peer");
            case "overlay" ->
                Finding.note(
                        FILE_SYSTEM,
                        what,
                        "a container's own layer: cuFile does not support it",
                        "mount a volume of ext4 or XFS into the container");
            default ->
                Finding.note(
                        FILE_SYSTEM,
                        what,
                        "cuFile moves directly from ext4 and XFS on NVMe, and from NFS, Lustre, GPFS, BeeGFS and WekaFS with their"
                                + " vendors' support",
                        "");
        };
    }

    private static Finding storage(KernelFiles machine, String node, Path link) {
        String disk = disk(machine, node);
        String name = String.valueOf(link.getName(link.getNameCount() - (disk.equals(node) ? 1 : 2)));
        List<String> parts = machine.names(disk + "/slaves");
        boolean nvme = isNvme(machine, node, name);
        // Unless told otherwise, the kernel takes virtual disks for rotating ones.
        boolean rotating = !machine.isVirtual()
                && machine.text(disk + "/queue/rotational").filter("1"::equals).isPresent();
        String what = name + (parts.isEmpty() ? "" : " of " + String.join(", ", parts)) + ": blocks of "
                + machine.text(disk + "/queue/logical_block_size").orElse("?") + " bytes, requests of up to "
                + machine.text(disk + "/queue/max_sectors_kb").orElse("?") + " KiB, scheduler "
                + machine.text(disk + "/queue/scheduler").orElse("?")
                + (rotating ? ", rotating" : "");
        return nvme
                ? Finding.ok(STORAGE, what)
                : Finding.note(
                        STORAGE,
                        what,
                        "not NVMe: no transfers from peer to peer, but staging buffers reach its rate",
                        "");
    }

    /** Returns the whole disk of a partition; of a disk, itself. */
    private static String disk(KernelFiles machine, String node) {
        return machine.exists(node + "/partition") ? node + "/.." : node;
    }

    /** Returns whether all disks are NVMe that a device consists of, by whatever is stacked between. */
    private static boolean isNvme(KernelFiles machine, String node, String name) {
        String slaves = disk(machine, node) + "/slaves";
        List<String> parts = machine.names(slaves);
        return name.startsWith("nvme")
                || (!parts.isEmpty() && parts.stream().allMatch(part -> isNvme(machine, slaves + "/" + part, part)));
    }

    private static Finding udev(KernelFiles machine, String device) {
        return machine.value("/run/udev/data/b" + device, "E:ID_FS_USAGE")
                .map(usage ->
                        Finding.ok(UDEV, "udev has a record of the device " + device + " (ID_FS_USAGE=" + usage + ")"))
                .orElseGet(() -> Finding.note(
                        UDEV,
                        "no record of udev in /run/udev/data/b" + device + ", as in most containers",
                        "libcufile identifies file systems by udev: cuFileHandleRegister returns 5027, and files go through staging"
                                + " buffers",
                        "docker run -v /run/udev:/run/udev:ro"));
    }
}
