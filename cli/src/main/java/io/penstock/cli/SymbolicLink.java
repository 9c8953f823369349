// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Describes broken symbolic links. */
final class SymbolicLink {

    private static final int MOST_LINKS = 40; // that Linux follows

    private SymbolicLink() {}

    /** Returns the error for a name behind which there is no file. */
    static IOException missing(Path file) throws IOException {
        return Files.isSymbolicLink(file) ? new IOException(describe(file)) : new NoSuchFileException(file.toString());
    }

    /** Describes a symbolic link that cannot be followed to its end. */
    static String describe(Path link) throws IOException {
        Path at = link;
        for (int i = 0; i < MOST_LINKS; i++) {
            if (!Files.isSymbolicLink(at)) {
                return link + " is a symbolic link to " + at + ", which does not exist";
            }
            at = at.resolveSibling(Files.readSymbolicLink(at));
        }
        return link + " is a loop of symbolic links";
    }
}
