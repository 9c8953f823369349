// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.backend.host.faults.FuseMount.On;
import io.penstock.tck.Pattern;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A file system that fails, mounted for a class of tests: where its files are, and what makes it fail. What a server of
 * the test answers is passed on by an overlay above it, and by an ext4 on a loop device in a file of it.
 */
final class FaultPlace implements AutoCloseable {

    /** The length of a file. */
    static final int BYTES = 1 << 20;

    private static final int MIDDLE = BYTES / 2 + 5000;
    private static final int SHORT_BYTES = 5001;
    private static final int TIMES = 3;
    private static final int IMAGE_BYTES = 16 << 20;
    private static final int IMAGE_MIB = 24;
    private static final int DISK_MIB = 4;
    private static final Map<String, Integer> ERRORS =
            Map.of("EINTR", 4, "EIO", 5, "EAGAIN", 11, "ENOSPC", 28, "ESTALE", 116, "EDQUOT", 122);

    private final Deque<AutoCloseable> mounts = new ArrayDeque<>();
    private final String name;
    private final Path folder;
    private final Path below; // where files are created
    private @Nullable FuseMount server;
    private @Nullable LoopImage disk;
    private @Nullable Path filler;

    /** Mounts one in a new folder of {@code scratch}. */
    FaultPlace(String name, Path scratch) throws IOException {
        this.name = name;
        Path own = Files.createDirectories(scratch.resolve(name));
        try {
            switch (name) {
                case "tmpfs" -> mounts.push(LoopImage.memory(own.resolve("disk"), DISK_MIB));
                case "ext4" -> {
                    disk = LoopImage.in(own, IMAGE_MIB);
                    mounts.push(disk);
                }
                case "fuse3" -> serve(own, "fault-fs");
                case "fuse2" -> serve(own, "fault-fs-2");
                case "overlay" -> mountOverlay(own);
                case "loop4k" -> mountLoop(own);
                default -> throw new IllegalArgumentException("no such file system: " + name);
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
        folder = disk != null ? disk.folder() : own.resolve(name.startsWith("fuse") ? "fuse" : "disk");
        below = name.equals("overlay") ? own.resolve("fuse") : folder;
    }

    private FuseMount serve(Path own, String program) throws IOException {
        FuseMount mounted = FuseMount.in(own, program, Map.of());
        mounts.push(mounted);
        server = mounted;
        return mounted;
    }

    private void mountOverlay(Path own) throws IOException {
        Path lower = serve(own, "fault-fs").file().resolveSibling("");
        Path upper = own.resolve("upper");
        mounts.push(LoopImage.memory(upper, DISK_MIB));
        Files.createDirectories(upper.resolve("files"));
        Files.createDirectories(upper.resolve("work"));
        String layers = "lowerdir=" + own.resolve("fuse") + ",upperdir=" + upper.resolve("files") + ",workdir="
                + upper.resolve("work");
        if (!Files.isDirectory(lower)) {
            throw new IOException("no folder " + lower);
        }
        mounts.push(
                Mounted.mount(Files.createDirectory(own.resolve("disk")), "-t", "overlay", "-o", layers, "overlay"));
    }

    // Without a journal, and without times of access: the server's faults hit the bytes of files alone.
    private void mountLoop(Path own) throws IOException {
        Path image = serve(own, "fault-fs").file().resolveSibling("image");
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(IMAGE_BYTES);
        }
        String device = Tool.run("losetup", "--sector-size", "4096", "--find", "--show", image.toString())
                .strip();
        try {
            Tool.run("mkfs.ext4", "-q", "-F", "-b", "4096", "-O", "^has_journal", "-E", "nodiscard", device);
            mounts.push(Mounted.mount(
                    Files.createDirectory(own.resolve("disk")), "-t", "ext4", "-o", "noatime,lazytime", device));
        } finally {
            Tool.run("losetup", "--detach", device); // once it is unmounted
        }
    }

    /** Returns where its files are. */
    Path folder() {
        return folder;
    }

    /** Returns what makes it fail. */
    FuseMount server() {
        return Objects.requireNonNull(server);
    }

    /** Creates a file with the pattern of its name, of which nothing is in the page cache. */
    Path create(String file) throws IOException {
        Path path = below.resolve(file);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
            Pattern.of(path).fill(bytes, 0);
            channel.write(bytes.flip(), 0);
            channel.force(true);
        }
        if (name.equals("loop4k")) {
            Tool.run("dd", "if=" + path, "iflag=nocache", "count=0", "status=none");
        }
        return folder.resolve(file);
    }

    /** Lets an operation on a file fail. */
    void inject(String operation, String fault, Path file) throws IOException {
        Path at = below.resolve(file.getFileName());
        switch (fault) {
            case "cut" -> {
                try (FileChannel another = FileChannel.open(at, StandardOpenOption.WRITE)) {
                    another.truncate(BYTES / 2);
                }
            }
            case "replaced" -> {
                Path other = Files.write(file.resolveSibling("other"), new byte[1000]);
                Files.move(other, file, StandardCopyOption.ATOMIC_MOVE);
            }
            case "removed" -> Files.delete(file);
            default -> {
                if (server == null) {
                    failAsADisk(operation, fault, at);
                } else {
                    order(server, on(operation), fault);
                }
            }
        }
    }

    /** The requests that a server gets for an operation: a disk has no others than reads and writes. */
    private On on(String operation) {
        On asked = On.valueOf(operation.toUpperCase(Locale.ROOT));
        return name.equals("loop4k") && asked != On.READ ? On.WRITE : asked;
    }

    private void order(FuseMount failing, On on, String fault) {
        long offset = name.equals("loop4k") ? -1 : MIDDLE;
        switch (fault) {
            case "short" -> {
                failing.cutShort(on, 1, SHORT_BYTES, TIMES);
                failing.cutShort(on, offset, SHORT_BYTES, TIMES);
            }
            case "zero" -> failing.cutShort(on, offset, 0, FuseMount.EVER);
            case "slow", "hung" -> failing.hold(on, offset);
            case "EINTR" -> failing.fail(on, offset, FuseMount.EINTR, TIMES);
            default -> failing.fail(on, offset, ERRORS.get(fault), FuseMount.EVER);
        }
    }

    private void failAsADisk(String operation, String fault, Path at) throws IOException {
        if (fault.equals("EIO") && disk != null) {
            disk.crash();
        } else if (fault.equals("ENOSPC")) {
            if (!operation.equals("rename")) {
                try (FileChannel another = FileChannel.open(at, StandardOpenOption.WRITE)) {
                    another.truncate(0);
                    another.write(ByteBuffer.allocate(1), BYTES - 1); // holes, which need space when they are written
                }
            }
            filler = Files.createFile(at.resolveSibling("filler"));
            fill(filler);
        } else {
            throw new IllegalArgumentException(name + " cannot fail by " + fault);
        }
    }

    private static void fill(Path filler) throws IOException {
        try (FileChannel channel = FileChannel.open(filler, StandardOpenOption.WRITE)) {
            for (int bytes = 1 << 20; bytes >= 512; bytes /= 2) {
                try {
                    while (channel.write(ByteBuffer.allocate(bytes)) > 0) {
                        channel.force(true);
                    }
                } catch (IOException full) {
                    // fewer may fit
                }
            }
        }
    }

    /** Waits until the server holds a request. */
    void awaitHeld() {
        if (server != null) {
            server.awaitHeld(1);
        }
    }

    /** Ends all faults. */
    void clear(String fault) throws IOException {
        if (server != null) {
            server.clear();
        }
        if (filler != null) {
            Files.deleteIfExists(filler);
            filler = null;
        }
        if (disk != null && fault.equals("EIO")) {
            disk.remount();
        }
    }

    /** Waits until nothing has a hidden name: what a cancelled writer leaves behind may end after the cancel. */
    void awaitNothingHidden() throws IOException {
        boolean hidden = true;
        while (hidden && !Thread.currentThread().isInterrupted()) {
            try (Stream<Path> all = Files.list(folder)) {
                hidden = all.anyMatch(path -> String.valueOf(path.getFileName()).startsWith("."));
            }
        }
    }

    /** Deletes what is left of a cell; returns the names, except the names of the place itself. */
    List<String> clean() throws IOException {
        List<String> left = clean(folder);
        if (!below.equals(folder)) {
            clean(below);
        }
        return left;
    }

    private static List<String> clean(Path folder) throws IOException {
        List<Path> left;
        try (Stream<Path> all = Files.list(folder)) {
            left = all.filter(path -> !isOwn(path)).sorted().toList();
        }
        for (Path path : left) {
            Files.delete(path);
        }
        return left.stream().map(path -> String.valueOf(path.getFileName())).toList();
    }

    private static boolean isOwn(Path path) {
        return path.endsWith("data") || path.endsWith("image") || path.endsWith("lost+found");
    }

    @Override
    public void close() throws IOException {
        IOException failure = null;
        for (AutoCloseable mount : mounts) {
            try {
                mount.close();
            } catch (Exception e) {
                failure = new IOException(name + " is still mounted", e);
            }
        }
        mounts.clear();
        if (failure != null) {
            throw failure;
        }
    }
}
