// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.qemu;

import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.PathName;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The image of a disk with an ext4 in its one partition, mounted by a loop device; and a tree of sysfs, procfs and
 * devices in which that loop device is a partition of an NVMe namespace.
 */
public final class Ext4Image implements AutoCloseable {

    /** Where the partition starts. */
    public static final long START = 1 << 20;

    private static final int MIB = 1 << 20;
    private static final int MIB_OF_DISK = 12;
    private static final int BLOCK = 4096;

    // Of linux/fscrypt.h.
    private static final long ADD_ENCRYPTION_KEY = 0xc0506617L;
    private static final long SET_ENCRYPTION_POLICY = 0x800c6613L;
    private static final int KEY_BYTES = 80; // before the key itself
    private static final int RAW_KEY_BYTES = 64;
    private static final int POLICY_BYTES = 24;
    private static final byte AES_256_XTS = 1;
    private static final byte AES_256_CTS = 4;

    private final Path image;
    private final Path mount;
    private final Path root;
    private final List<Path> links = new ArrayList<>();
    private boolean isMounted;

    private Ext4Image(Path scratch, String... features) throws IOException {
        image = scratch.resolve("disk");
        mount = Files.createDirectory(scratch.resolve("mount"));
        root = Files.createDirectory(scratch.resolve("root"));
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength((long) MIB_OF_DISK * MIB);
        }
        List<String> make = new ArrayList<>(List.of("mkfs.ext4", "-q", "-F", "-m", "0", "-b", "" + BLOCK));
        make.addAll(List.of(features));
        make.addAll(List.of("-E", "offset=" + START, image.toString(), (MIB_OF_DISK - 2) + "M"));
        run(make.toArray(String[]::new));
        mount("rw");
    }

    /**
     * Makes one and mounts it for writing, or skips the test.
     *
     * @param features further arguments of mkfs.ext4
     */
    public static Ext4Image of(Path scratch, String... features) {
        String refusal = notRoot();
        Ext4Image made = null;
        if (refusal == null) {
            try {
                made = new Ext4Image(scratch, features);
            } catch (IOException e) {
                refusal = String.valueOf(e.getMessage());
            }
        }
        Require.backend("faults", refusal);
        return Objects.requireNonNull(made);
    }

    private static @Nullable String notRoot() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0) ? null : "only root may mount";
        } catch (IOException | UnsupportedOperationException e) {
            return "not Linux: " + e;
        }
    }

    /** Returns the disk. */
    public Path image() {
        return image;
    }

    /** Returns the folder that the file system is mounted on. */
    public Path mount() {
        return mount;
    }

    /** Mounts it again, read-only, and returns the tree that shows its device as one of NVMe. */
    public Path readOnly() throws IOException {
        unmount();
        mount("ro");
        return tree();
    }

    /** As {@link #readOnly}, of a file system that was mounted for writing in a crash; its journal is not replayed. */
    public Path crashed() throws IOException {
        Path copy = image.resolveSibling("crashed");
        unmount();
        mount("rw");
        Files.copy(image, copy);
        unmount();
        Files.move(copy, image, StandardCopyOption.REPLACE_EXISTING);
        mount("ro,noload");
        return tree();
    }

    private Path tree() throws IOException {
        long number = ((Number) Files.getAttribute(mount, "unix:dev")).longValue();
        Path disk = Files.createDirectories(root.resolve("sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1"));
        Files.writeString(disk.resolve("nsid"), "1\n");
        Files.writeString(Files.createDirectories(disk.resolve("device")).resolve("serial"), "PENSTOCK            \n");
        Path partition = Files.createDirectories(disk.resolve("nvme0n1p1"));
        Files.writeString(partition.resolve("partition"), "1\n");
        Files.writeString(partition.resolve("start"), START / 512 + "\n");
        Path block = Files.createDirectories(root.resolve("sys/dev/block"));
        String name = (number >>> 8 & 0xfff) + ":" + (number & 0xff);
        link(block.resolve(name), block.relativize(partition));
        String loop = run("findmnt", "-no", "SOURCE", mount.toString()).strip();
        link(Files.createDirectories(root.resolve("dev")).resolve("nvme0n1p1"), Path.of(loop));
        link(Files.createDirectories(root.resolve("proc/self")).resolve("mountinfo"), Path.of("/proc/self/mountinfo"));
        return root;
    }

    private void link(Path link, Path target) throws IOException {
        Files.deleteIfExists(link);
        links.add(Files.createSymbolicLink(link, target));
    }

    /** Mounts it for writing, after {@link #unmount}. */
    public void writable() throws IOException {
        mount("rw");
    }

    private void mount(String mode) throws IOException {
        run("mount", "-t", "ext4", "-o", mode + ",loop,offset=" + START, image.toString(), mount.toString());
        isMounted = true;
    }

    /** Unmounts it. */
    public void unmount() throws IOException {
        run("umount", mount.toString());
        isMounted = false;
    }

    /** Writes a file of that many bytes, all of them random. */
    public Path file(String name, int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return Files.write(mount.resolve(name), content);
    }

    /** Makes a folder whose files are encrypted, with a key of zeros that the kernel has until this is unmounted. */
    public Path encrypted(String name) throws IOException {
        Path folder = Files.createDirectory(mount.resolve(name));
        ByteBuffer policy = direct(POLICY_BYTES).put(0, (byte) 2); // version 2
        policy.put(1, AES_256_XTS).put(2, AES_256_CTS).put(8, addKey());
        ioctl(folder, SET_ENCRYPTION_POLICY, policy);
        return folder;
    }

    /** Gives the kernel the key for as long as this is mounted, and returns its identifier. */
    public byte[] addKey() throws IOException {
        ByteBuffer key =
                direct(KEY_BYTES + RAW_KEY_BYTES).putInt(0, 2).putInt(40, RAW_KEY_BYTES); // named by an identifier
        ioctl(mount, ADD_ENCRYPTION_KEY, key);
        byte[] identifier = new byte[16];
        key.get(8, identifier);
        return identifier;
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    private static void ioctl(Path folder, long request, ByteBuffer argument) throws IOException {
        int fd = LibC.orErrno(LibC.open(PathName.of(folder), LibC.O_RDONLY | LibC.O_CLOEXEC, 0));
        int result = fd < 0 ? fd : LibC.orErrno(LibC.ioctl(fd, request, NativeMemory.address(argument)));
        if (fd >= 0) {
            LibC.close(fd);
        }
        if (result < 0) {
            throw new ErrnoException(folder + ": fscrypt", "ioctl", -result);
        }
    }

    /**
     * Writes a file in pieces: it takes the blocks of every second file that fill the disk, except for some at
     * the start.
     */
    public Path fragmented(String name, int blocks) throws IOException {
        List<Path> fillers = new ArrayList<>();
        for (int i = 0; Files.getFileStore(mount).getUsableSpace() > 2L * BLOCK; i++) {
            fillers.add(file("filler" + i, BLOCK));
        }
        for (int i = 0; i < 2 * blocks; i += 2) {
            Files.delete(fillers.get(i));
        }
        force(mount);
        Path file = file(name, blocks * BLOCK - 100);
        force(file);
        return file;
    }

    private static void force(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Reads bytes of the disk. */
    public ByteBuffer bytes(long place, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        try (FileChannel disk = FileChannel.open(image)) {
            disk.read(bytes, place);
        }
        return bytes.flip();
    }

    /** Runs a program to its end, and returns what it printed. */
    public static String run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.onExit().join().exitValue();
        if (status != 0) {
            throw new IOException(String.join(" ", command) + " ended with " + status + ": " + printed.strip());
        }
        return printed;
    }

    @Override
    public void close() throws IOException {
        for (Path link : links) {
            Files.deleteIfExists(link);
        }
        if (isMounted) {
            unmount();
        }
    }
}
