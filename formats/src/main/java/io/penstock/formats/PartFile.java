// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A file that appears as a whole or not at all: written under a hidden name next to its target, and moved over it at the
 * end. After {@link #close} nothing is created and nothing is moved, so that a cancel which overtakes a step leaves
 * nothing. Thread-safe.
 */
final class PartFile implements AutoCloseable {

    private static final int MOST_LINKS = 40; // as Linux has it

    private Path target; // guarded by this
    private Path part; // guarded by this
    private boolean created; // guarded by this
    private boolean closed; // guarded by this

    PartFile(Path target) {
        this.target = target.toAbsolutePath();
        this.part = this.target;
    }

    /** Returns the path to write to, once it has been created. */
    synchronized Path path() {
        return part;
    }

    /** Follows links, as a program does that opens a file to write it: a link stays a link, also one to nothing yet. */
    private static Path followed(Path path) throws IOException {
        Path at = path;
        for (int links = 0; Files.isSymbolicLink(at); links++) {
            if (links == MOST_LINKS) {
                throw new FileSystemLoopException(path.toString());
            }
            Path folder = Objects.requireNonNull(at.getParent());
            at = folder.toRealPath().resolve(Files.readSymbolicLink(at));
        }
        return at;
    }

    /** Creates the file with its first bytes. */
    synchronized void create(ByteBuffer first) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        target = followed(target);
        if (Files.exists(target) && !Files.isRegularFile(target)) { // /dev/null, for root
            throw new FileSystemException(target.toString(), null, "only a regular file is replaced");
        }
        // Without the name itself, which may be as long as any.
        String unique = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        part = target.resolveSibling("." + unique + ".part");
        try (FileChannel channel = FileChannel.open(part, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            created = true;
            while (first.hasRemaining()) {
                channel.write(first);
            }
        }
    }

    /** Moves the file to its target, whose bytes must be durable; makes the move durable where directories can be synced. */
    synchronized void commit() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
        created = false;
        Path folder = target.getParent();
        if (folder != null) {
            syncDirectory(folder);
        }
    }

    private static void syncDirectory(Path folder) throws IOException {
        FileChannel directory;
        try {
            directory = FileChannel.open(folder);
        } catch (IOException notPossibleHere) { // on Windows
            return;
        }
        try (directory) {
            directory.force(true);
        }
    }

    /** Deletes the file unless it was moved; a second call does nothing. */
    @Override
    public synchronized void close() {
        closed = true;
        if (created) {
            created = false;
            try {
                Files.deleteIfExists(part);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
