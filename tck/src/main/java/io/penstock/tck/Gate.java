// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** A file on which native operations stay in flight until a test lets them end. */
public interface Gate extends AutoCloseable {

    /** The most bytes that reads and writes of it may ask for in one test. */
    int CAPACITY = 16 << 10;

    /** Makes a named pipe in {@code folder}; empty where the system has none. */
    static Optional<Gate> namedPipe(Path folder) throws IOException {
        return NamedPipe.make(folder);
    }

    /** Returns what to open, with READ or WRITE alone. */
    Path path();

    /** Makes writes stay in flight from now on; reads do so from the beginning. */
    void holdWrites() throws IOException;

    /** Lets reads of {@code bytes} bytes in all end; what they get is {@link Pattern#of(Path)} from 0 on. */
    void letReadsEnd(int bytes) throws IOException;

    /** Lets the writes that are held end, and waits until {@code bytes} of them have come through. */
    void letWritesEnd(int bytes) throws IOException;

    /** Ends everything that it still holds. */
    @Override
    void close() throws IOException;
}
