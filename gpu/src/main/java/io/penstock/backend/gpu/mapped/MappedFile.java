// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

import io.penstock.FileOption;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.engine.kit.WrappedFile;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.host.HostFiles;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A file opened IMMUTABLE: its descriptor for the stamp, and its mapping for the GPU. */
final class MappedFile extends WrappedFile<HostFile> {

    private final Registrations registrations;
    private final @Nullable FileMapping mapping; // null for an empty file
    private final FileKey key;

    private MappedFile(
            HostFile host, Registrations registrations, @Nullable FileMapping mapping, FileKey key, Limits limits) {
        super(host, limits);
        this.registrations = registrations;
        this.mapping = mapping;
        this.key = key;
    }

    /**
     * Opens a file and maps it; nothing is registered yet.
     *
     * @throws IOException if it was not opened IMMUTABLE, or cannot be mapped; the message has the reason
     */
    static MappedFile open(Path path, Set<FileOption> options, Registrations registrations, Limits limits)
            throws IOException {
        if (!options.contains(FileOption.IMMUTABLE)) {
            throw refused(path, "it is not opened IMMUTABLE");
        }
        if (options.contains(FileOption.DIRECT)) {
            throw refused(path, "it is opened past the page cache (DIRECT)");
        }
        HostFile host = HostFiles.open(path, options, limits.segmentBytes());
        try (StampReader stamps = new StampReader()) {
            if (!host.reason().isEmpty()) { // the I/O queue reads its stamp, and must wait for no server
                throw refused(path, "it does not lie on a local disk: it goes by " + host.reason());
            }
            int answer = stamps.read(host.fd());
            if (answer < 0) {
                throw refused(path, "statx -> " + Errno.symbol(-answer));
            }
            if (!stamps.isRegular()) {
                throw refused(path, "it is no regular file");
            }
            FileKey key = stamps.key();
            FileMapping mapping = key.size() == 0 ? null : map(path, key, host.fd(), registrations);
            return new MappedFile(host, registrations, mapping, key, limits);
        } catch (IOException | RuntimeException | Error e) {
            try (host) {
                throw e; // also if the close fails
            }
        }
    }

    private static FileMapping map(Path path, FileKey key, int fd, Registrations registrations) throws IOException {
        String refusal = registrations.tryPage(fd);
        if (!refusal.isEmpty()) {
            throw refused(path, refusal);
        }
        return registrations.open(key, fd);
    }

    private static FileRefusal refused(Path path, String why) {
        return new FileRefusal(path + ": " + why);
    }

    /** Returns true if the file is unchanged since it was mapped, by its stamp. */
    boolean isUnchanged(StampReader stamps) {
        if (stamps.read(host().fd()) == 0 && stamps.shows(key)) {
            return true;
        }
        if (mapping != null) {
            registrations.discard(mapping);
        }
        return false;
    }

    /** Returns how many of {@code bytes} from {@code offset} lie within the file. */
    long clamp(long offset, long bytes) {
        return Math.max(0, Math.min(bytes, key.size() - offset));
    }

    /** Returns true if the GPU can read a range at once. */
    boolean isRegistered(long offset, long bytes) {
        return mapping == null || registrations.isRegistered(mapping, offset, clamp(offset, bytes));
    }

    /** Counts that a range is read on another path; from the second time on it is registered for this path. */
    void readElsewhere(long offset, long bytes) {
        if (mapping != null) {
            registrations.readElsewhere(mapping, offset, clamp(offset, bytes));
        }
    }

    FileMapping mapping() {
        if (mapping == null) {
            throw new IllegalStateException("an empty file has no mapping");
        }
        return mapping;
    }

    @Override
    public void close() {
        if (mapping != null) {
            registrations.close(mapping);
        }
        super.close();
    }
}
