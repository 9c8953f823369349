// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Makes the names in directories durable, by the JDK alone. */
public final class DirectorySync {

    private DirectorySync() {}

    /**
     * Makes the names in a directory durable; does nothing where that is not possible: on Windows, or in a directory
     * that this process must not list.
     *
     * @throws IOException if the names may be lost
     */
    public static void force(Path directory) throws IOException {
        FileChannel opened;
        try {
            opened = FileChannel.open(directory);
        } catch (AccessDeniedException notPossibleHere) {
            return;
        }
        try (opened) {
            force(opened);
        }
    }

    /** Syncs a directory, unless its file system cannot: EINVAL, as of VirtualBox' shared folders, is no failure. */
    static void force(FileChannel directory) throws IOException {
        try {
            directory.force(true);
        } catch (IOException e) {
            String text = e.getMessage();
            if (text == null || !text.equals("Invalid argument") && !text.equals(invalidArgument())) {
                throw e;
            }
        }
    }

    /**
     * Returns the text of EINVAL in the language of this process: an exception has the text alone, in the C library's
     * words, and there may be no engine here that knows errno. The directory of processes on Linux has no sync either.
     * Null where there is none.
     */
    private static @Nullable String invalidArgument() {
        try (FileChannel processes = FileChannel.open(Path.of("/proc"))) {
            processes.force(true);
            return null;
        } catch (IOException e) {
            return e instanceof FileSystemException ? null : e.getMessage();
        }
    }
}
