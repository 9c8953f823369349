// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.file;

import io.penstock.FileOption;
import io.penstock.backend.cufile.driver.CuFileRefusal;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.engine.host.LinuxFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.Shared;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The files that one backend has registered. What several routes, or several openings, want to do alike with one file
 * shares a handle: registering asks the system much.
 *
 * <p><b>Threading:</b> thread-safe; opening and closing block.
 */
public final class CuFileHandles {

    /** Handles that there are in this process. */
    public static final AtomicLong LIVE = new AtomicLong();

    private record Key(Object identity, boolean writes, boolean direct) {}

    /** What there is to read from, and by which module of the kernel's. */
    @FunctionalInterface
    public interface Storages {

        /** Finds out what a file lies on. */
        StorageKind of(Path file) throws IOException;

        /** Returns where the nvidia-fs module shows itself when it is loaded. */
        default Path nvidiaFs() {
            return CuFileLibrary.NVIDIA_FS;
        }
    }

    private final Storages storages;
    private final Shared<Key, CuFileHandle> open = new Shared<>(CuFileHandles::end);

    public CuFileHandles(Storages storages) {
        this.storages = storages;
    }

    /**
     * Opens a file for cuFile.
     *
     * @param direct whether it is to bypass the page cache, whatever {@code options} say
     * @throws CuFileRefusal where cuFile does not want it
     */
    public CuFileHandle open(Path path, Set<FileOption> options, boolean direct) throws IOException {
        Set<FileOption> how = EnumSet.noneOf(FileOption.class);
        how.addAll(options);
        // What is not whole blocks is read before it is merged and written, also where nobody else reads.
        how.add(FileOption.READ);
        if (direct) {
            how.add(FileOption.DIRECT);
        }
        LinuxFile linux = LinuxFile.open(path, how, Limits.LINUX_MAX_BYTES);
        Key key = key(linux, how);
        CuFileHandle handle = open.open(key, () -> register(linux));
        if (handle.linux() != linux) {
            linux.close();
        }
        return handle;
    }

    private CuFileHandle register(LinuxFile linux) throws IOException {
        CuFileHandle handle = CuFileHandle.register(linux, kind(linux));
        LIVE.incrementAndGet();
        return handle;
    }

    private StorageKind kind(LinuxFile linux) throws IOException {
        try {
            return storages.of(linux.path());
        } catch (IOException e) {
            linux.close();
            throw e;
        }
    }

    /** Gives back what {@link #open} gave. */
    public void close(CuFileHandle handle) {
        open.leave(handle);
    }

    private static void end(CuFileHandle handle) {
        handle.close();
        LIVE.decrementAndGet();
    }

    private static Key key(LinuxFile linux, Set<FileOption> how) {
        return new Key(linux.identity(), how.contains(FileOption.WRITE), how.contains(FileOption.DIRECT));
    }
}
