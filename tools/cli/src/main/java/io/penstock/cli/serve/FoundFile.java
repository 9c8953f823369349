// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.penstock.netty.http.FileVersion;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * A regular file below the served directory, as it was when it was found.
 *
 * @param path the real path: absolute, no links
 * @param key identifies this file, as opposed to a later one with its name
 * @param size in bytes
 */
public record FoundFile(Path path, String key, long size, FileVersion version) {

    private static final String NO_KEY = "null"; // as on Windows

    /** Returns whether an open file has the key; true where the system has no keys. */
    boolean isKeyOf(BasicFileAttributes opened) {
        return key.equals(NO_KEY) || key.equals(String.valueOf(opened.fileKey()));
    }
}
