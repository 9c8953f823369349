// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.io.IOException;
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

    /** Looks at a file; blocks. */
    static FoundFile at(Path path) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        if (!attributes.isRegularFile()) {
            throw new NoSuchFileException(path.toString(), null, "not a regular file");
        }
        return new FoundFile(
                path,
                attributes.fileKey(),
                attributes.size(),
                attributes.lastModifiedTime().toInstant());
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
