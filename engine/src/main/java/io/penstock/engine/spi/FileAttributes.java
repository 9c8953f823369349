// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of an open file. It has one time, which stands for the others too.
 *
 * @param lastModifiedTime {@link #UNKNOWN} if the system does not report it
 * @param fileKey equal for two openings of one file; null if the system has none
 */
public record FileAttributes(
        boolean isRegularFile,
        long size,
        FileTime lastModifiedTime,
        @Nullable Object fileKey) implements BasicFileAttributes {

    /** The epoch. */
    public static final FileTime UNKNOWN = FileTime.fromMillis(0);

    @Override
    public FileTime lastAccessTime() {
        return lastModifiedTime;
    }

    @Override
    public FileTime creationTime() {
        return lastModifiedTime;
    }

    @Override
    public boolean isDirectory() {
        return false;
    }

    @Override
    public boolean isSymbolicLink() {
        return false;
    }

    @Override
    public boolean isOther() {
        return !isRegularFile;
    }
}
