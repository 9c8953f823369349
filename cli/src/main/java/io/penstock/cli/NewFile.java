// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.cli.ffi.UnnamedFile;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file that appears as a whole or not at all: written without a name, or under a hidden name if the file system does
 * not support unnamed files, and named at the end. Not thread-safe.
 */
public final class NewFile implements AutoCloseable {

    private static final Set<PosixFilePermission> OWNER =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    private final Path path;
    private final boolean replace;
    private final Path hidden; // next to its target
    private final @Nullable UnnamedFile unnamed;
    private final Path part;
    private final @Nullable Set<PosixFilePermission> granted;

    /**
     * Creates an empty file, which only its owner can read until {@link #commit}.
     *
     * @param permissions its permissions from then on, less the umask; null if the file system has none
     * @throws FileAlreadyExistsException if the file exists and must not be replaced
     * @throws FileSystemException if it is no regular file
     */
    public NewFile(Path path, boolean replace, @Nullable Set<PosixFilePermission> permissions) throws IOException {
        this(path, replace, permissions, true);
    }

    /** Same; {@code false} selects the behaviour on a file system without unnamed files. */
    NewFile(Path path, boolean replace, @Nullable Set<PosixFilePermission> permissions, boolean mayBeUnnamed)
            throws IOException {
        this.path = path.toAbsolutePath();
        this.replace = replace;
        Path folder = folder(path);
        if (replace) {
            checkReplaceable(path);
        } else {
            refuseWhatIsThere(path);
        }
        // Without the name itself, which may be as long as any.
        String unique = ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime());
        hidden = folder.resolve("." + unique + ".part");
        unnamed = mayBeUnnamed
                ? UnnamedFile.in(folder, permissions == null ? 0666 : mode(permissions))
                        .orElse(null)
                : null;
        part = unnamed == null ? hidden : unnamed.path();
        try {
            if (unnamed == null) {
                create(permissions);
            }
            // The kernel has applied the umask and the default ACL of the folder: the resulting permissions are
            // restored.
            granted = permissions == null ? null : Files.getPosixFilePermissions(part);
            if (granted != null) {
                Files.setPosixFilePermissions(part, OWNER);
            }
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private void create(@Nullable Set<PosixFilePermission> permissions) throws IOException {
        hidden.toFile().deleteOnExit(); // for Ctrl-C
        try {
            FileAttribute<?>[] with = permissions == null
                    ? new FileAttribute<?>[0]
                    : new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)};
            Files.createFile(hidden, with);
        } catch (NoSuchFileException e) { // of an existing folder, such as /proc
            throw new FileSystemException(path.toString(), null, "no file can be created in " + path.getParent());
        }
    }

    /**
     * Returns the directory of a new file.
     *
     * @throws IOException if it does not exist or is not writable
     */
    public static Path folder(Path path) throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new IOException("there is no directory " + folder);
        }
        if (!Files.isWritable(folder)) {
            throw new AccessDeniedException(folder.toString());
        }
        return folder;
    }

    /**
     * Throws if something is there that a new file must not replace.
     *
     * @throws FileSystemException if it is no regular file
     */
    public static void checkReplaceable(Path path) throws FileSystemException {
        if (Files.exists(path) && !Files.isRegularFile(path)) { // /dev/null, for root
            throw new FileSystemException(path.toString(), null, "only a regular file is replaced");
        }
    }

    private static void refuseWhatIsThere(Path path) throws IOException {
        if (Files.exists(path)) {
            throw new FileAlreadyExistsException(path.toString());
        }
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(SymbolicLink.describe(path) + "; --force replaces it");
        }
    }

    /** Returns the path to write to; an empty file exists there. */
    public Path part() {
        return part;
    }

    /** Returns the file that remains if the process is killed meanwhile; only this name keeps it. */
    Optional<Path> leftByKill() {
        return unnamed == null ? Optional.of(hidden) : Optional.empty();
    }

    /** Fills a file. */
    @FunctionalInterface
    public interface Filling {
        void fill(Path part) throws IOException;
    }

    /**
     * Fills the file.
     *
     * @throws FileSystemException if it cannot be written; names the file, not its part, and the first cause
     */
    public void write(Filling filling) throws IOException {
        try {
            filling.fill(part);
        } catch (IOException e) {
            IOException first = e;
            while (first.getCause() instanceof IOException cause) { // ImageIO's own exceptions state no reason
                first = cause;
            }
            String reason = first instanceof FileSystemException known ? known.getReason() : first.getMessage();
            FileSystemException named = new FileSystemException(path.toString(), null, reason);
            named.initCause(e);
            throw named;
        }
    }

    /** Moves the written file to its target. */
    public void commit() throws IOException {
        if (granted != null) {
            Files.setPosixFilePermissions(part, granted);
        }
        if (unnamed != null) {
            unnamed.link(replace ? hidden : path);
        } else if (!replace) {
            link();
        }
        if (replace) {
            // Atomic: a reader sees the old file or the new one.
            Files.move(hidden, path, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** A move would replace a file created there meanwhile; a link does not. */
    private void link() throws IOException {
        try {
            Files.createLink(path, hidden);
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (FileSystemException | UnsupportedOperationException noHardLinks) {
            refuseWhatIsThere(path);
            Files.move(hidden, path, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Deletes the file if it was not committed. */
    @Override
    public void close() throws IOException {
        if (unnamed != null) {
            unnamed.close();
        }
        Files.deleteIfExists(hidden);
    }

    private static int mode(Set<PosixFilePermission> permissions) {
        int mode = 0;
        for (PosixFilePermission bit : PosixFilePermission.values()) { // from the highest
            mode = (mode << 1) | (permissions.contains(bit) ? 1 : 0);
        }
        return mode;
    }
}
