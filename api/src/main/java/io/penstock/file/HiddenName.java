// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A hidden name beside a target, {@code .NAME.N.part}, held by a lock on {@code .NAME.N.lock}. A process that ends in
 * any way loses its lock, and the next writer of the target removes what is left under the name; a name that is held by
 * a live process is passed over.
 *
 * <p>The locks are the JDK's, so that all writers have the same ones, with native code or without. They are on a file
 * of their own: POSIX ends a process's lock on a file when the process closes any descriptor of it, such as the
 * backend's.
 */
final class HiddenName implements AutoCloseable {

    private static final int KEPT_OF_NAME = 50; // characters of up to four bytes
    private static final int MOST_NAMES = 1000; // of one target at a time; further ones have no lock
    private static final int MOST_GAP = 8; // free names in a row behind which none is searched
    private static final int TOKEN_BYTES = 16;

    /** The locks of this process, which must not open them again. */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path part;
    private final Path lock;
    private @Nullable FileChannel held;
    private @Nullable FileChannel named;
    private boolean over;

    private HiddenName(Path stem, Object number) {
        part = stem.resolveSibling(stem.getFileName() + "." + number + ".part");
        lock = stem.resolveSibling(stem.getFileName() + "." + number + ".lock");
    }

    /** Returns what all hidden names beside the target begin with. The target's name may be as long as any. */
    private static Path stem(Path target) throws IOException {
        StringBuilder name = new StringBuilder(".");
        String.valueOf(target.getFileName()).codePoints().limit(KEPT_OF_NAME).forEach(name::appendCodePoint);
        Path folder = Objects.requireNonNull(target.getParent());
        return folder.toRealPath().resolve(name.toString()); // HELD has one name of each folder
    }

    /** Returns the first name that no live process has; there is no file of this name. */
    static HiddenName take(Path target) throws IOException {
        Path stem = stem(target);
        for (int n = 0; n < MOST_NAMES; n++) {
            HiddenName name = new HiddenName(stem, n);
            try {
                if (name.hold()) {
                    return name;
                }
            } catch (IOException | UnsupportedOperationException e) {
                break; // no locks here, no permission, no space: the file itself may be possible
            }
        }
        return new HiddenName(
                stem, HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong()));
    }

    /** Removes what writers of the target have left that were killed. */
    static void removeDead(Path target) throws IOException {
        Path stem = stem(target);
        for (int n = 0, gap = 0; gap < MOST_GAP && n < MOST_NAMES; n++) {
            HiddenName name = new HiddenName(stem, n);
            gap = Files.exists(name.lock, LinkOption.NOFOLLOW_LINKS) ? 0 : gap + 1;
            try {
                if (gap == 0 && name.hold()) {
                    name.close();
                }
            } catch (IOException | UnsupportedOperationException e) {
                return; // as of a folder that must not be written
            }
        }
    }

    /** Returns the name. Its folder is without links. */
    Path path() {
        return part;
    }

    /**
     * Returns whether this process holds the name now. If so, what another one has left under it is gone. An interrupt,
     * such as a cancel's, closes the channels when the file may be there already: the name is taken all the same, so
     * that its owner deletes that, and the thread stays interrupted.
     */
    private boolean hold() throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return holdOnce();
                } catch (ClosedByInterruptException e) {
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean holdOnce() throws IOException {
        boolean other = Files.exists(lock, LinkOption.NOFOLLOW_LINKS)
                && !Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS); // the open of a pipe would wait
        if (other || !HELD.add(lock)) {
            return false;
        }
        boolean success = false;
        try {
            held = FileChannel.open(
                    lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
            success = isLocked(held) && isNamed(held);
            if (success) {
                Files.deleteIfExists(part);
            }
            return success;
        } catch (AccessDeniedException e) {
            if (Files.exists(lock, LinkOption.NOFOLLOW_LINKS)) { // another user's, which may be alive
                return false;
            }
            throw e;
        } catch (IOException e) { // no locks here, or no space for the token
            if (held != null) {
                deleteEmpty(lock, e);
            }
            throw e;
        } finally {
            if (!success) {
                release();
            }
        }
    }

    /**
     * Deletes a file of locks without a token, because of an error that it must not hide. Another writer that has just
     * created it checks its name next, and takes another.
     */
    static void deleteEmpty(Path lock, IOException why) {
        try {
            if (Files.size(lock) == 0) {
                Files.deleteIfExists(lock);
            }
        } catch (IOException e) {
            why.addSuppressed(e);
        }
    }

    /** Locks a byte behind the token: Windows refuses to read what is locked. */
    private boolean isLocked(FileChannel file) throws IOException {
        try {
            return file.tryLock(TOKEN_BYTES, 1, false) != null;
        } catch (OverlappingFileLockException e) { // of another class loader
            return false;
        }
    }

    /**
     * Returns whether the locked file still has its name: between its opening and its locking another process may have
     * locked and deleted it. Both channels stay open until the end, as the close of one would end the lock.
     */
    private boolean isNamed(FileChannel locked) throws IOException {
        byte[] token = new byte[TOKEN_BYTES];
        ThreadLocalRandom.current().nextBytes(token);
        locked.write(ByteBuffer.wrap(token), 0);
        try {
            named = FileChannel.open(lock, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return false;
        }
        ByteBuffer found = ByteBuffer.allocate(TOKEN_BYTES);
        named.read(found, 0);
        return found.flip().equals(ByteBuffer.wrap(token));
    }

    /** Deletes the file if it has this name, and gives the name back. A second call does nothing. */
    @Override
    public void close() throws IOException {
        if (over) {
            return;
        }
        over = true;
        try {
            Files.deleteIfExists(part);
            if (held != null) {
                Files.deleteIfExists(lock);
            }
        } finally {
            if (held != null) {
                release();
            }
        }
    }

    private void release() throws IOException {
        try {
            if (named != null) {
                named.close();
            }
        } finally {
            if (held != null) {
                held.close();
            }
            HELD.remove(lock);
        }
    }
}
