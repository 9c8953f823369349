// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A version of a file.
 *
 * @param key identifies the file, as opposed to a later one of its name; null if the file system does not tell
 */
record ServedFile(Path path, @Nullable Object key, long size, Instant modified) {

    ServedFile(Path path, BasicFileAttributes attributes) {
        this(
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
