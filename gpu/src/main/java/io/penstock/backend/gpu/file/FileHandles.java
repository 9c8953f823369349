// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.FileOption;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.host.HostFiles;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.Shared;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/**
 * The files that one backend has registered. Paths and openings that use one file in the same way share a handle, since
 * registering takes many system calls.
 *
 * <p><b>Threading:</b> thread-safe; opening and closing block.
 */
public final class FileHandles {

    private record Key(Object identity, boolean writes, boolean direct) {}

    /** Opens files, and detects the storage under them. */
    @FunctionalInterface
    public interface Storages {

        /** Returns the storage that a file lies on. */
        StorageKind of(Path file) throws IOException;

        /** Opens a file on the host, as {@link HostFiles#open} does. */
        default HostFile open(Path file, Set<FileOption> options) throws IOException {
            return HostFiles.open(file, options, Limits.LINUX_MAX_BYTES);
        }
    }

    private final FileApi files;
    private final Storages storages;
    private final Shared<Key, FileHandle> open = new Shared<>(FileHandles::end);

    public FileHandles(FileApi files, Storages storages) {
        this.files = files;
        this.storages = storages;
    }

    /**
     * Opens a file for the file API.
     *
     * @param direct true to bypass the page cache, whatever {@code options} contain
     * @throws FileRefusal if the file API refuses it
     */
    public FileHandle open(Path path, Set<FileOption> options, boolean direct) throws IOException {
        Set<FileOption> how = EnumSet.noneOf(FileOption.class);
        how.addAll(options);
        // Partial blocks are read, merged and written back, even if the application only writes.
        how.add(FileOption.READ);
        if (direct) {
            how.add(FileOption.DIRECT);
        }
        HostFile linux = storages.open(path, how);
        Key key = key(linux, how);
        FileHandle handle = open.open(key, () -> register(linux));
        if (handle.linux() != linux) {
            try {
                linux.close();
            } catch (RuntimeException e) {
                close(handle);
                throw e;
            }
        }
        return handle;
    }

    private FileHandle register(HostFile linux) throws IOException {
        FileHandle handle = FileHandle.register(files, linux, kind(linux));
        LiveObjects.add(FileHandles.class);
        return handle;
    }

    private StorageKind kind(HostFile linux) throws IOException {
        try {
            return storages.of(linux.path());
        } catch (IOException | RuntimeException e) {
            try (linux) {
                throw e; // also if the close fails
            }
        }
    }

    /** Closes a handle that {@link #open} returned. */
    public void close(FileHandle handle) {
        open.leave(handle);
    }

    private static void end(FileHandle handle) {
        try {
            handle.close();
        } finally {
            LiveObjects.remove(FileHandles.class);
        }
    }

    private static Key key(HostFile linux, Set<FileOption> how) {
        return new Key(linux.identity(), how.contains(FileOption.WRITE), how.contains(FileOption.DIRECT));
    }
}
