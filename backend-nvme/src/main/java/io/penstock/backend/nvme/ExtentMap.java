// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.engine.kit.ffi.Machine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Where the bytes of a file of ext4 lie on a namespace. The kernel reports it while its driver has the controller
 * ({@link #of}); the backend {@code nvme}, which has the controller afterwards, opens the map as a file with those
 * bytes.
 *
 * <p>Such a file is read-only. The map is valid as long as nothing is written to the file system. It is recorded while
 * that is mounted read-only, and holds a digest of the superblock, which a later mount for writing changes: the backend
 * compares the two at each opening. What is written to the disk without the file system, it does not notice.
 *
 * @param bytes the length of the file
 * @param serial the serial number of the controller
 * @param namespace the identifier of the namespace
 * @param superblock where the superblock lies in the namespace, in bytes
 * @param digest SHA-256 of the superblock, in hexadecimal digits
 * @param extents in the order of the file, without holes, from byte 0 to its end or the end of its last block
 */
public record ExtentMap(
        long bytes, String serial, int namespace, long superblock, String digest, List<Extent> extents) {

    /** The end of the names of files that hold a map. */
    public static final String SUFFIX = ".extents";

    /** The size of the superblock of ext4. */
    public static final int SUPERBLOCK_BYTES = 1024;

    private static final String HEAD = "penstock-extents 1";
    private static final int FIELDS = 5; // before the extents

    // Of struct ext4_super_block.
    private static final int SUPERBLOCK_OFFSET = 1024;
    private static final int MAGIC_AT = 0x38;
    private static final int INCOMPATIBLE_AT = 0x60;
    private static final short MAGIC = (short) 0xef53;
    private static final int NEEDS_RECOVERY = 0x4;

    /**
     * Checks the arguments.
     *
     * @throws IllegalArgumentException if extents do not cover the file, or a number is out of its range
     */
    public ExtentMap {
        extents = List.copyOf(extents);
        long end = 0;
        for (Extent extent : extents) {
            if (extent.offset() != end) {
                throw new IllegalArgumentException("an extent must begin at " + end + ", was at " + extent.offset());
            }
            end = extent.end();
        }
        if (bytes < 0 || bytes > end) {
            throw new IllegalArgumentException("extents must cover " + bytes + " bytes, were of " + end);
        }
        if (namespace < 1 || superblock < 0) {
            throw new IllegalArgumentException(
                    "namespace and superblock must be at least 1 and 0, were " + namespace + " and " + superblock);
        }
    }

    /**
     * Records where a file lies, while the kernel's driver has the controller.
     *
     * <p><b>Threading:</b> blocks.
     *
     * @throws IOException if the file is not a regular one, or not on an ext4 that is mounted read-only, on a namespace
     *     or a partition of one; if the superblock cannot be read, which needs the rights of root; or if a byte of the
     *     file has no block of its own: holes, space that was not written, inline, encrypted and shared data
     */
    public static ExtentMap of(Path file) throws IOException {
        return of(Path.of("/"), file);
    }

    /** As above, with sysfs, procfs and devices of a test. */
    static ExtentMap of(Path root, Path file) throws IOException {
        if (!Machine.isSupported()) {
            throw refused(file, "recording extents requires 64-bit Linux, not " + Machine.operatingSystem());
        }
        String number = deviceNumber(file);
        if (!Files.isRegularFile(file)) { // a pipe would be waited for
            throw refused(file, "it must be a regular file");
        }
        checkMount(root, file, number);
        BlockDevice device = BlockDevice.of(root, number);
        ByteBuffer superblock = ByteBuffer.allocate(SUPERBLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel disk = FileChannel.open(device.node())) {
            while (superblock.hasRemaining()
                    && disk.read(superblock, SUPERBLOCK_OFFSET + superblock.position()) >= 0) {}
        }
        if (superblock.getShort(MAGIC_AT) != MAGIC || (superblock.getInt(INCOMPATIBLE_AT) & NEEDS_RECOVERY) != 0) {
            throw refused(file, "the superblock of " + device.node() + " must be the superblock of a clean ext4");
        }
        long bytes = Files.size(file);
        return new ExtentMap(
                bytes,
                device.serial(),
                device.namespace(),
                device.start() + SUPERBLOCK_OFFSET,
                digest(superblock.flip()),
                Fiemap.of(file, bytes, device.start()));
    }

    private static String deviceNumber(Path file) throws IOException {
        long device = ((Number) Files.getAttribute(file, "unix:dev")).longValue();
        long major = (device >>> 8 & 0xfff) | (device >>> 32 & 0xfffff000L);
        long minor = (device & 0xff) | (device >>> 12 & 0xffffff00L);
        return major + ":" + minor;
    }

    /** The options of the file system count, not the options of a mount point: another mount point may be writable. */
    private static void checkMount(Path root, Path file, String number) throws IOException {
        for (String line : Files.readAllLines(root.resolve("proc/self/mountinfo"))) {
            String[] halves = line.split(" - ", 2);
            if (halves.length == 2 && halves[0].split(" ")[2].equals(number)) {
                String[] fileSystem = halves[1].split(" ");
                if (!fileSystem[0].equals("ext4")) {
                    throw refused(file, "the file system must be ext4, was " + fileSystem[0]);
                }
                if (!List.of(fileSystem[2].split(",")).contains("ro")) {
                    throw refused(file, "the file system must be mounted read-only; mount -o remount,ro does it");
                }
                return;
            }
        }
        throw refused(file, "no mounted file system has the device number " + number);
    }

    private static FileSystemException refused(Path file, String why) {
        return new FileSystemException(file.toString(), null, why);
    }

    private static String digest(ByteBuffer superblock) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(superblock);
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /**
     * Returns whether {@code superblock}, read from the namespace, is the superblock of the recorded file system,
     * unchanged.
     */
    public boolean matches(ByteBuffer superblock) {
        return digest(superblock.duplicate()).equals(digest);
    }

    /**
     * Writes the map as text; blocks. The backend opens it if the name ends with {@value #SUFFIX}.
     *
     * @throws IOException if it cannot be written
     */
    public void write(Path map) throws IOException {
        List<String> lines = new ArrayList<>(
                List.of(HEAD, Long.toString(bytes), serial, Integer.toString(namespace), superblock + " " + digest));
        extents.forEach(extent -> lines.add(extent.offset() + " " + extent.place() + " " + extent.bytes()));
        Files.write(map, lines, StandardCharsets.UTF_8);
    }

    /**
     * Reads a map; blocks.
     *
     * @throws IOException if it cannot be read, or is not a map
     */
    public static ExtentMap read(Path map) throws IOException {
        List<String> lines = Files.readAllLines(map, StandardCharsets.UTF_8);
        if (lines.size() < FIELDS || !lines.get(0).equals(HEAD)) {
            throw refused(map, "a map must begin with the line '" + HEAD + "'");
        }
        try {
            String[] superblock = lines.get(4).split(" ");
            List<Extent> extents = new ArrayList<>();
            for (String line : lines.subList(FIELDS, lines.size())) {
                String[] numbers = line.split(" ");
                extents.add(
                        new Extent(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2])));
            }
            return new ExtentMap(
                    Long.parseLong(lines.get(1)),
                    lines.get(2),
                    Integer.parseInt(lines.get(3)),
                    Long.parseLong(superblock[0]),
                    superblock[1],
                    extents);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw refused(map, "not a map of extents: " + e.getMessage());
        }
    }
}
