// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;

/**
 * The attributes of an open file. It has one time, which stands for the others too.
 *
 * @param lastModifiedTime {@link #UNKNOWN} where the system does not tell
 */
public record FileAttributes(boolean isRegularFile, long size, FileTime lastModifiedTime, Object fileKey)
        implements BasicFileAttributes {

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
