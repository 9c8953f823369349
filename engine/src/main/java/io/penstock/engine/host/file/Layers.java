// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * What an overlay lies on, as far as the kernel reports it: {@code /proc/self/mountinfo} has the folders of its layers,
 * and the types of the file systems that these are on. In a container these are folders of the host, which are not
 * found; they are taken for folders on a disk of it. No file system is queried that may not answer.
 */
final class Layers {

    /** Of an overlay for which the kernel names none: any may be on another host. */
    static final String UNKNOWN = "layers that are not known";

    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");
    private static final int MOUNT_POINT = 4; // the column
    private static final String END = " - "; // of the columns that a line may have any number of
    private static final Set<String> DISKS = Set.of(
            "ext2",
            "ext3",
            "ext4",
            "xfs",
            "btrfs",
            "f2fs",
            "zfs",
            "bcachefs",
            "tmpfs",
            "ramfs",
            "rootfs",
            "hugetlbfs",
            "vfat",
            "exfat",
            "ntfs3",
            "iso9660",
            "udf",
            "squashfs",
            "erofs",
            "overlay");

    private Layers() {}

    /**
     * Returns the type of the first layer that is not on a disk of this machine; empty if there is none, and
     * {@link #UNKNOWN} if the layers cannot be found.
     */
    static String remote(int fd) {
        try {
            List<String> mounts = Files.readAllLines(MOUNTS);
            String path = Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
            return remote(mounts, path);
        } catch (IOException | RuntimeException unknown) { // such as without /proc, or with too many open files
            return UNKNOWN;
        }
    }

    /** As above, of the overlay that has a file, by the lines of a mountinfo. */
    static String remote(List<String> mounts, String path) {
        String overlay =
                mount(mounts, path.replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011"));
        if (!type(overlay).equals("overlay")) { // it was unmounted meanwhile, or this process does not see its mount
            return UNKNOWN;
        }
        String found = UNKNOWN;
        String options = overlay.substring(overlay.lastIndexOf(' ') + 1);
        for (String option : options.split(",")) {
            if (!option.startsWith("lowerdir") && !option.startsWith("upperdir=")) {
                continue;
            }
            for (String layer : option.substring(option.indexOf('=') + 1).split(":")) {
                if (layer.isEmpty()) { // two colons separate layers of files from layers of data alone
                    continue;
                }
                String type = layer.startsWith("/") ? type(mount(mounts, layer)) : UNKNOWN;
                if (!DISKS.contains(type)) {
                    return type.isEmpty() ? UNKNOWN : type;
                }
                found = "";
            }
        }
        return found;
    }

    /** Returns the line of the mount that an escaped path is on: of the longest mount point, and of these the last. */
    private static String mount(List<String> mounts, String path) {
        String inside = path + "/";
        String found = "";
        int longest = 0;
        for (String line : mounts) {
            String point = line.split(" ", MOUNT_POINT + 2)[MOUNT_POINT];
            String folder = point.endsWith("/") ? point : point + "/";
            if (inside.startsWith(folder) && folder.length() >= longest) {
                longest = folder.length();
                found = line;
            }
        }
        return found;
    }

    private static String type(String line) {
        int end = line.indexOf(END);
        return end < 0 ? "" : line.substring(end + END.length()).split(" ", 2)[0];
    }
}
