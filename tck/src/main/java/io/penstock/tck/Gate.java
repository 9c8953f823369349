// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** A file on which native operations stay in flight until a test releases them. */
public interface Gate extends AutoCloseable {

    /** The most bytes of reads and writes in one test. */
    int CAPACITY = 16 << 10;

    /** Creates a named pipe in {@code folder}; empty if the system has none. */
    static Optional<Gate> namedPipe(Path folder) throws IOException {
        return NamedPipe.make(folder);
    }

    /** Returns what to open, with READ or WRITE alone. */
    Path path();

    /** Holds writes in flight from now on; reads are held from the beginning. */
    void holdWrites() throws IOException;

    /** Releases reads of {@code bytes} bytes in total; they return {@link Pattern#of(Path)} from 0 on. */
    void letReadsEnd(int bytes) throws IOException;

    /** Releases the held writes, and waits until {@code bytes} of them have been written. */
    void letWritesEnd(int bytes) throws IOException;

    /** Ends all operations that are still held. */
    @Override
    void close() throws IOException;
}
