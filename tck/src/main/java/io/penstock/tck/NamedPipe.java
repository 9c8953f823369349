// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A pipe with both ends also open here, so that neither end of file nor a broken pipe can occur while it is open. */
final class NamedPipe implements Gate {

    private static final int PIPE_BYTES = 64 << 10; // Linux's default pipe capacity; 16 pages

    private final Path path;
    private final RandomAccessFile pipe;
    private int held;

    private NamedPipe(Path path, RandomAccessFile pipe) {
        this.path = path;
        this.pipe = pipe;
    }

    static Optional<Gate> make(Path folder) throws IOException {
        Path path = folder.resolve("gate");
        try {
            Process mkfifo = new ProcessBuilder("mkfifo", path.toString()).start();
            if (mkfifo.waitFor() != 0) {
                return Optional.empty();
            }
        } catch (IOException e) {
            return Optional.empty(); // no such command: not a POSIX system
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
        // Read-write, because opening one end alone would block until the other is opened.
        return Optional.of(new NamedPipe(path, new RandomAccessFile(path.toFile(), "rw")));
    }

    @Override
    public Path path() {
        return path;
    }

    @Override
    public void holdWrites() throws IOException {
        held = PIPE_BYTES;
        pipe.write(new byte[held]);
    }

    @Override
    public void letReadsEnd(int bytes) throws IOException {
        byte[] content = new byte[bytes];
        Pattern.of(path).fill(ByteBuffer.wrap(content), 0);
        pipe.write(content);
    }

    @Override
    public void letWritesEnd(int bytes) throws IOException {
        pipe.readFully(new byte[held + bytes]);
        held = 0;
    }

    @Override
    public void close() throws IOException {
        pipe.close(); // readers see the end of the file, writers a broken pipe
        Files.deleteIfExists(path);
    }
}
