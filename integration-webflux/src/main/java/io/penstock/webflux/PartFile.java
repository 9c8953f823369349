// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A file that is being received, under a hidden name beside its target until {@link #commit}. Every method blocks.
 *
 * <p><b>Threading:</b> thread-safe. A cancelled request may still be creating or naming the file when it is discarded:
 * the lock orders the two.
 */
final class PartFile {

    private static final int MOST_NAME_BYTES = 255; // of most file systems

    private final Path target;
    private final Path path;
    private boolean created; // guarded by this
    private boolean discarded; // guarded by this

    PartFile(Path target) {
        this.target = target.toAbsolutePath();
        String unique = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        this.path =
                this.target.resolveSibling("." + unique + ".part"); // the target's name may have the greatest length
    }

    /** Returns the hidden name. */
    Path path() {
        return path;
    }

    /** Creates it, empty, with the default permissions of new files. */
    synchronized void create() throws IOException {
        checkWanted();
        try {
            checkTarget();
            Files.createFile(path);
        } catch (AccessDeniedException e) {
            throw e;
        } catch (FileSystemException e) {
            throw leadsNowhere() ? absent(e) : e;
        }
        created = true;
    }

    /**
     * Returns true if there can be no file at the path, because of a file in place of a folder on the way, or of a name that
     * is too long: the file system reports both in words alone.
     */
    private boolean leadsNowhere() {
        Path folder = target.getParent();
        byte[] name = String.valueOf(target.getFileName()).getBytes(StandardCharsets.UTF_8);
        return folder == null || !Files.isDirectory(folder) || name.length > MOST_NAME_BYTES;
    }

    private NoSuchFileException absent(FileSystemException cause) {
        NoSuchFileException absent = new NoSuchFileException(target.toString(), null, cause.getReason());
        absent.initCause(cause);
        return absent;
    }

    /** Throws if the target cannot be a file: before the body is received, not after it. */
    private void checkTarget() throws IOException {
        try {
            if (Files.readAttributes(target, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .isDirectory()) {
                throw new AccessDeniedException(target.toString(), null, "is a folder");
            }
        } catch (NoSuchFileException e) {
            // nothing is replaced
        }
    }

    /** Moves it over its target: readers see the old file or this one. Durable. */
    synchronized void commit() throws IOException {
        checkWanted();
        Files.move(path, target, StandardCopyOption.ATOMIC_MOVE);
        try (FileChannel folder = FileChannel.open(folder(), StandardOpenOption.READ)) {
            folder.force(true);
        } catch (IOException notHere) {
            // Windows has no such call, and some network file systems refuse it: renames are durable there, or never.
        }
    }

    /** Deletes it unless it was committed; {@link #create} fails from now on. */
    synchronized void discard() throws IOException {
        discarded = true;
        if (created) {
            Files.deleteIfExists(path);
        }
    }

    private Path folder() {
        Path folder = target.getParent();
        return folder == null ? target : folder;
    }

    private void checkWanted() throws FileSystemException {
        if (discarded) {
            throw new FileSystemException(target.toString(), null, "the upload was cancelled");
        }
    }
}
