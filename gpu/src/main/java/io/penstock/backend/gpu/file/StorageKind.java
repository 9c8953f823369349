// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.DriverProperties.Storage;
import io.penstock.backend.gpu.api.FileApi;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/**
 * The storage that a file lies on.
 *
 * @param fileSystem the kernel's name of the file system type
 * @param device the mounted device
 * @param kinds the kinds of storage by which the file API may reach it, any one of them; empty if unknown
 */
public record StorageKind(String fileSystem, String device, Set<Storage> kinds) {

    private static final Path BLOCK_DEVICES = Path.of("/sys/class/block");

    /** Returns the storage that an existing file lies on. */
    public static StorageKind of(Path file) throws IOException {
        FileStore store = Files.getFileStore(file);
        return of(store.type(), store.name(), BLOCK_DEVICES);
    }

    /** As above, from its parts. */
    public static StorageKind of(String fileSystem, String device, Path blockDevices) throws IOException {
        Set<Storage> kinds = switch (fileSystem) {
            case "ext4", "xfs" -> disk(device, blockDevices);
            case "lustre" -> EnumSet.of(Storage.LUSTRE);
            case "wekafs" -> EnumSet.of(Storage.WEKAFS);
            case "nfs", "nfs4" -> EnumSet.of(Storage.NFS);
            case "gpfs" -> EnumSet.of(Storage.GPFS);
            case "beegfs" -> EnumSet.of(Storage.BEEGFS);
            case "scatefs" -> EnumSet.of(Storage.SCATEFS);
            default -> EnumSet.noneOf(Storage.class);
        };
        return new StorageKind(fileSystem, device, kinds);
    }

    private static Set<Storage> disk(String device, Path blockDevices) throws IOException {
        Path node = Path.of(device);
        Path name = (Files.exists(node) ? node.toRealPath() : node).getFileName();
        return name == null ? EnumSet.noneOf(Storage.class) : block(name.toString(), blockDevices);
    }

    /** For an array or a mapping, only what all its disks have in common. */
    private static Set<Storage> block(String name, Path blockDevices) throws IOException {
        if (name.startsWith("nvme")) {
            return EnumSet.of(Storage.NVME, Storage.NVMEOF, Storage.NVME_P2P);
        }
        if (name.startsWith("sd")) {
            return EnumSet.of(Storage.SCSI);
        }
        if (name.startsWith("sfd")) {
            return EnumSet.of(Storage.SCALEFLUX);
        }
        Path parts = blockDevices.resolve(name).resolve("slaves");
        Set<Storage> common = EnumSet.noneOf(Storage.class);
        if (!Files.isDirectory(parts)) {
            return common;
        }
        try (DirectoryStream<Path> disks = Files.newDirectoryStream(parts)) {
            boolean first = true;
            for (Path disk : disks) {
                Set<Storage> kinds = block(String.valueOf(disk.getFileName()), blockDevices);
                if (first) {
                    common.addAll(kinds);
                } else {
                    common.retainAll(kinds);
                }
                first = false;
            }
        }
        return common;
    }

    /**
     * Returns why the file API cannot go directly between this storage and a GPU, or an empty string if its driver reports
     * that it can.
     */
    public String whyNotDirect(FileApi files, DriverProperties properties) {
        if (!properties.mayBeDirect()) {
            return files.words().neverDirect();
        }
        if (kinds.isEmpty()) {
            return "it is unknown whether " + files.product() + " reaches " + fileSystem + " on " + device;
        }
        return kinds.stream().anyMatch(properties::reaches)
                ? ""
                : files.product() + "'s driver reaches " + properties.reached() + ", not " + kinds + " (" + fileSystem
                        + " on " + device + ")";
    }
}
