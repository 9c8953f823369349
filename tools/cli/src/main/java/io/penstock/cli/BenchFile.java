// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.cli.doctor.FileChecks;
import io.penstock.file.PartFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The FILE of {@code penstock bench}: what must hold before a block is moved, how long it is, and how it is created.
 *
 * @param writes whether blocks are written to it
 */
record BenchFile(Path path, BackendChoice choice, boolean writes) {

    private static final long NEW_FILE_BYTES = 1L << 30;

    /** Returns whether there is something to read or to overwrite; blocks of the backend nvme are always there. */
    boolean exists() {
        return choice.ownsFile(path) || Files.exists(path);
    }

    /** Throws if it cannot be used so. */
    void check(boolean force, boolean verify) throws IOException {
        if (!writes && !exists()) {
            throw SymbolicLink.missing(path);
        }
        if (writes) {
            SymbolicLink.refuse(path);
        }
        if (Files.isDirectory(path)) {
            throw new IOException(path + " is a directory");
        }
        if (writes && exists() && !force) {
            throw new IOException(path + " exists; --force overwrites its bytes");
        }
        if (verify && choice.ownsFile(path)) {
            throw new IOException("--verify needs a FILE that the operating system can read, was " + path);
        }
    }

    /** Returns the new file, without its name yet; null if blocks of an existing one are used. */
    @Nullable
    PartFile create() throws IOException {
        return writes && !exists() ? PartFile.create(path, false, null) : null;
    }

    /** Gives a new file its length. */
    void preallocate(Path created, @Nullable Long size) throws IOException {
        long bytes = size == null ? NEW_FILE_BYTES : size;
        long free = Files.getFileStore(PartFile.folder(path)).getUsableSpace();
        if (free < bytes) {
            throw new IOException("disk full: " + path + " needs " + bytes + " bytes, and " + free + " are free");
        }
        try (Backend host = Backends.open("host");
                StorageFile target = Objects.requireNonNull(
                        host.openFile(created, FileOption.WRITE).block())) {
            target.preallocate(bytes)
                    .onErrorResume(BenchFile::isUnsupported, unsupported -> target.truncate(bytes)) // a sparse file
                    .block();
        }
    }

    private static boolean isUnsupported(Throwable failure) {
        return failure instanceof PenstockException refused
                && refused.nativeError()
                        .filter(error -> error.symbol().equals("EOPNOTSUPP"))
                        .isPresent();
    }

    /**
     * Returns the length of a file or a device; the JDK returns 0 for a device.
     *
     * @param used where the file is: its path, or another one while it is being created
     * @param open opens the backend, for what only it can open
     */
    long length(Path used, Supplier<Backend> open) throws IOException {
        boolean owned = choice.ownsFile(used);
        if (Files.isRegularFile(used) && !owned) {
            return Files.size(used);
        }
        if (!owned && !FileChecks.isBlockDevice(used)) { // blocking host I/O would open it
            throw new IOException(used + " is neither a regular file nor a block device");
        }
        try (Backend backend = open.get()) {
            return CopyCommand.size(backend, used);
        }
    }
}
