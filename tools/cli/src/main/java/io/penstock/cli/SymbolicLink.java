// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** Describes names that lead to no file, such as broken symbolic links. */
final class SymbolicLink {

    private static final int MOST_LINKS = 40; // that Linux follows

    private SymbolicLink() {}

    /** Returns the error for a name by which no file is found: {@link Files#exists} does not tell why. */
    static IOException missing(Path file) throws IOException {
        IOException reason = new NoSuchFileException(file.toString());
        try {
            Files.readAttributes(file, BasicFileAttributes.class);
        } catch (IOException e) {
            reason = e;
        }
        boolean broken = !(reason instanceof AccessDeniedException) && Files.isSymbolicLink(file);
        return broken ? new IOException(describe(file)) : reason;
    }

    /** Throws if a new file cannot have this name because of a symbolic link to nothing. */
    static void refuse(Path name) throws IOException {
        if (!Files.exists(name) && Files.isSymbolicLink(name)) {
            throw new IOException(describe(name) + "; --force replaces it");
        }
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
