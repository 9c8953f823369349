// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A regular file below the served directory, as it was when it was looked at.
 *
 * @param path the real path: absolute, no links
 * @param key what tells this file from another that takes its name
 * @param size in bytes
 * @param entityTag strong: another one after every change that the file system tells about
 */
public record FoundFile(Path path, String key, long size, Instant modified, String entityTag) {

    /** Returns {@code Last-Modified}, which knows whole seconds only. */
    Instant lastModified() {
        return modified.truncatedTo(ChronoUnit.SECONDS);
    }
}
