// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A file that is there as a whole or not at all: written next to its place, and moved there at the end. */
final class NewFile implements AutoCloseable {

    private final Path path;
    private final Path part;
    private final boolean replace;

    NewFile(Path path, boolean replace) throws IOException {
        this.path = path;
        this.replace = replace;
        checkFree();
        String unique = Long.toHexString(System.nanoTime());
        part = folder(path).resolve("." + path.getFileName() + "." + unique + ".part");
        part.toFile().deleteOnExit(); // for the user who presses Ctrl-C
    }

    /** Returns the directory that a new file is to lie in. */
    static Path folder(Path path) throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new IOException("there is no directory " + folder);
        }
        if (!Files.isWritable(folder)) {
            throw new AccessDeniedException(folder.toString());
        }
        return folder;
    }

    /** Returns where to write; nothing is there yet. */
    Path part() {
        return part;
    }

    /** Moves what was written to its place. */
    void commit() throws IOException {
        checkFree();
        // Atomic: whoever looks sees the old file or the new one.
        Files.move(part, path.toAbsolutePath(), StandardCopyOption.ATOMIC_MOVE);
    }

    private void checkFree() throws IOException {
        if (!replace && Files.exists(path)) {
            throw new FileAlreadyExistsException(path.toString());
        }
    }

    /** Deletes what was written and not committed. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(part);
    }
}
