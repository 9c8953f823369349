// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A regular file, as it was when it was looked at.
 *
 * @param key identifies the file, as opposed to a later one of its name; null if the file system does not tell
 */
record FoundFile(Path path, @Nullable Object key, long size, Instant modified) {

    private static final int MOST_NAME_BYTES = 255; // of most file systems

    /** Looks at a file; blocks. */
    static FoundFile at(Path path) throws IOException {
        BasicFileAttributes attributes;
        try {
            attributes = Files.readAttributes(path, BasicFileAttributes.class);
        } catch (AccessDeniedException e) {
            throw e; // before a look at the folder, which is forbidden too
        } catch (FileSystemException e) {
            throw leadsNowhere(path) ? absent(path, e) : e;
        }
        if (!attributes.isRegularFile()) {
            throw new NoSuchFileException(path.toString(), null, "not a regular file");
        }
        return new FoundFile(
                path,
                attributes.fileKey(),
                attributes.size(),
                attributes.lastModifiedTime().toInstant());
    }

    /**
     * Returns true if there can be no file at a path, because of a file in place of a folder on the way, or of a name
     * that is too long: the file system reports both in words alone. Blocks.
     */
    static boolean leadsNowhere(Path path) {
        Path whole = path.toAbsolutePath();
        Path folder = whole.getParent();
        byte[] name = String.valueOf(whole.getFileName()).getBytes(StandardCharsets.UTF_8);
        return folder == null || !Files.isDirectory(folder) || name.length > MOST_NAME_BYTES;
    }

    static NoSuchFileException absent(Path path, FileSystemException cause) {
        NoSuchFileException absent = new NoSuchFileException(path.toString(), null, cause.getReason());
        absent.initCause(cause);
        return absent;
    }

    /** Returns whether it is the same file, though it may have been written to; false where the file system cannot tell. */
    boolean isSame(FoundFile other) {
        return key != null && key.equals(other.key);
    }

    /** Returns a strong entity tag, quoted: another after every change that the file system reports. */
    String entityTag() {
        return '"'
                + Long.toHexString(size)
                + '-'
                + Long.toHexString(modified.getEpochSecond())
                + '-'
                + Integer.toHexString(modified.getNano())
                + '-'
                + Integer.toHexString(Objects.hashCode(key))
                + '"';
    }

    /** Returns {@code Last-Modified}, which has whole seconds. */
    Instant lastModified() {
        return modified.truncatedTo(ChronoUnit.SECONDS);
    }
}
