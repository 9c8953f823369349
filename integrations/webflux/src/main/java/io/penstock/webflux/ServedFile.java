// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.penstock.netty.http.FileVersion;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A file, as it was when it was opened.
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

    FileVersion version() {
        return FileVersion.of(key + " " + size + ' ' + modified, modified);
    }
}
