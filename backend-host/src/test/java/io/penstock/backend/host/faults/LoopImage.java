// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.tck.Bench;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** An ext4 of its own, in a file on a file system in memory of its own, which may be smaller than it. */
final class LoopImage implements AutoCloseable {

    private static final Duration BUSY = Duration.ofSeconds(10);
    private static final long POLL_NANOS = 1_000_000;

    private final Path image;
    private final Path folder;
    private final Mounted memory;
    private Mounted mounted;

    private LoopImage(Path parent, int imageMiB, int memoryMiB) throws IOException {
        folder = Files.createDirectory(parent.resolve("ext4"));
        memory = memory(parent.resolve("memory"), memoryMiB);
        image = parent.resolve("memory").resolve("image");
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength((long) imageMiB << 20);
            Tool.run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,nodiscard", image.toString());
            mounted = mountImage();
        } catch (IOException e) {
            memory.close();
            throw e;
        }
    }

    /** Mounts one of {@code imageMiB} for a test, which is skipped where that is not possible. */
    static LoopImage of(Bench bench, int imageMiB) {
        return of(bench, imageMiB, imageMiB + 8);
    }

    /** Mounts one on a disk of only {@code diskMiB}, which shows when the kernel writes back what it has accepted. */
    static LoopImage of(Bench bench, int imageMiB, int diskMiB) {
        return bench.keep(
                Tool.require(() -> new LoopImage(bench.path(".").normalize().toAbsolutePath(), imageMiB, diskMiB)));
    }

    /** Mounts one in a folder. */
    static LoopImage in(Path parent, int imageMiB) throws IOException {
        return new LoopImage(parent, imageMiB, imageMiB + 8);
    }

    /** Mounts a file system in memory. */
    static Mounted memory(Path folder, int mib) throws IOException {
        return Mounted.mount(Files.createDirectory(folder), "-t", "tmpfs", "-o", "size=" + mib + "m", "tmpfs");
    }

    // The kernel lets go of a loop device that mount has made when it is unmounted, even if we are dead by then.
    private Mounted mountImage() throws IOException {
        return Mounted.mount(folder, "-t", "ext4", "-o", "loop", image.toString());
    }

    /** Returns the folder that it is mounted on. */
    Path folder() {
        return folder;
    }

    /** Shuts it down as a crash would: nothing reaches the disk any more, and every call fails. */
    void crash() throws IOException {
        Tool.run(Tool.compiled("shut-down-fs").toString(), folder.toString());
    }

    /** Mounts it again, as after a crash; nothing of it may be open. */
    void remount() throws IOException {
        long deadline = System.nanoTime() + BUSY.toNanos();
        while (true) {
            try {
                mounted.unmount();
                break;
            } catch (IOException busy) {
                // A ring lets go of a file a little after it was closed.
                if (deadline - System.nanoTime() < 0) {
                    throw busy;
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
        mounted = mountImage();
    }

    @Override
    public void close() throws IOException {
        mounted.close();
        memory.close();
    }
}
