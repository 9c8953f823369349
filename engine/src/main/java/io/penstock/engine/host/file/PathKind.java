// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** What must be known of a path before it is opened. */
final class PathKind {

    private static final int S_IFMT = 0xf000;
    private static final int S_IFIFO = 0x1000;

    private PathKind() {}

    /**
     * Throws if the path is a named pipe: {@code open(2)} would block until a process opens the other end, and a cancel
     * could not end it. If the attributes cannot be read, the open that follows reports why.
     */
    static void refusePipe(Path path) throws FileSystemException {
        boolean pipe;
        try {
            pipe = Files.readAttributes(path, BasicFileAttributes.class).isOther()
                    && path.getFileSystem().supportedFileAttributeViews().contains("unix")
                    && ((int) Files.getAttribute(path, "unix:mode") & S_IFMT) == S_IFIFO;
        } catch (IOException e) {
            return;
        }
        if (pipe) {
            throw new FileSystemException(path.toString(), null, "neither a regular file nor a block device");
        }
    }
}
