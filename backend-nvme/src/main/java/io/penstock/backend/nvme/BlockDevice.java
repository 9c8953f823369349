// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A namespace as the kernel's driver shows it, or a partition of one.
 *
 * @param node the device file
 * @param serial the serial number of the controller
 * @param namespace the identifier of the namespace
 * @param start where the partition starts in the namespace, in bytes; 0 without partitions
 */
record BlockDevice(Path node, String serial, int namespace, long start) {

    private static final int SECTOR = 512; // of sysfs, whatever the namespace has

    /**
     * Returns the block device of a number.
     *
     * @param root {@code /}, unless for tests
     * @param number major and minor number, {@code 259:2}
     * @throws FileSystemException if it is not one of NVMe
     */
    static BlockDevice of(Path root, String number) throws IOException {
        Path place = root.resolve("sys/dev/block").resolve(number);
        if (!Files.exists(place)) {
            throw new FileSystemException(number, null, "the file must lie on a block device, sysfs has no " + place);
        }
        Path device = place.toRealPath();
        boolean isPartition = Files.exists(device.resolve("partition"));
        Path disk = isPartition ? place.resolve("..").toRealPath() : device;
        if (!Files.exists(disk.resolve("nsid")) || !Files.exists(disk.resolve("device/serial"))) {
            throw new FileSystemException(
                    number, null, "the disk must be an NVMe namespace, was " + disk.getFileName());
        }
        return new BlockDevice(
                root.resolve("dev").resolve(device.getFileName().toString()),
                text(disk.resolve("device/serial")),
                Integer.parseInt(text(disk.resolve("nsid"))),
                isPartition ? Long.parseLong(text(device.resolve("start"))) * SECTOR : 0);
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file).strip();
    }
}
