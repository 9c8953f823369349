// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A regular file below the served directory, as it was when it was found.
 *
 * @param path the real path: absolute, no links
 * @param key identifies this file, as opposed to a later one with its name
 * @param size in bytes
 * @param entityTag strong: differs after every change that the file system reports
 */
public record FoundFile(Path path, String key, long size, Instant modified, String entityTag) {

    /** Returns {@code Last-Modified}, which has whole seconds only. */
    Instant lastModified() {
        return modified.truncatedTo(ChronoUnit.SECONDS);
    }
}
