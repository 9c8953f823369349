// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.blocking;

import io.penstock.engine.spi.NativeFile;
import java.io.IOException;

/**
 * Reads and writes of one staging buffer. Results are those of {@link HostBytes}.
 *
 * <p><b>Threading:</b> one thread at a time, the holder of the staging buffer. The calls block until no native
 * operation uses the memory.
 *
 * <p><b>Ownership:</b> {@link #close} releases what is kept for the staging buffer, before its memory is freed.
 */
public interface BufferBytes {

    /**
     * Reads into memory once; the caller continues after a short read.
     *
     * @return the bytes read; 0 at the end of the file
     * @throws IOException if the failure has no error number
     */
    long read(NativeFile file, long fileOffset, long address, long bytes) throws IOException;

    /**
     * Writes from memory once; the caller continues after a short write.
     *
     * @throws IOException if the failure has no error number
     */
    long write(NativeFile file, long fileOffset, long address, long bytes) throws IOException;

    /** Releases the staging buffer's memory. The staging buffer must have no holder. */
    default void close() {}
}
