// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import java.util.Map;
import java.util.Set;

/**
 * What lies below a file, by the number of its file system ({@code f_type} of {@code fstatfs}): io_uring is for disks
 * and memory of this machine.
 *
 * <p>Others go by blocking calls. The kernel executes a direct request on FUSE inside {@code io_uring_enter}, however
 * long the server takes, and repeats a short read at the old offset (Linux 6.18); and what waits for a server would
 * hold all of a ring's kernel workers.
 */
final class Storage {
    private static final long OVERLAY = 0x794c7630;

    private static final Set<Long> LOCAL = Set.of(
            0xEF53L, // ext2, ext3, ext4
            0x58465342L, // XFS
            0x9123683EL, // Btrfs
            0xF2F52010L, // F2FS
            0x2FC12FC1L, // ZFS
            0xCA451A4EL, // bcachefs
            0x01021994L, // tmpfs
            0x858458F6L, // ramfs
            0x958458F6L, // hugetlbfs
            0x4D44L, // FAT
            0x2011BAB0L, // exFAT
            0x7366746EL, // NTFS by ntfs3
            0x9660L, // ISO 9660
            0x15013346L, // UDF
            0x73717368L, // SquashFS
            0xE0F5E1E2L, // EROFS
            OVERLAY);

    private static final Map<Long, String> NAMES = Map.of(
            0x65735546L,
            "FUSE",
            0x6969L,
            "NFS",
            0xFF534D42L,
            "CIFS",
            0xFE534D42L,
            "SMB",
            0x01021997L,
            "9P",
            0x00C36400L,
            "Ceph",
            0x0BD00BD0L,
            "Lustre",
            0x47504653L,
            "GPFS");

    private Storage() {}

    /** Returns whether io_uring reads and writes its files; also if the number could not be had. */
    static boolean isLocal(long type) {
        return type < 0 || LOCAL.contains(type & 0xFFFFFFFFL);
    }

    /** Returns whether what lies below it is not known: a layer may be on another host. */
    static boolean isLayered(long type) {
        return (type & 0xFFFFFFFFL) == OVERLAY;
    }

    /** Returns whether its files state the length of a page, whatever they have: sysfs and configfs do. */
    static boolean statesPages(long type) {
        return type == 0x62656572L || type == 0x62656570L;
    }

    static String name(long type) {
        return NAMES.getOrDefault(type & 0xFFFFFFFFL, "of type 0x" + Long.toHexString(type & 0xFFFFFFFFL));
    }
}
