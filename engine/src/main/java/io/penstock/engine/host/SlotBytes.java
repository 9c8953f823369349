// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.NativeFile;
import java.io.IOException;

/**
 * How the bytes of one slot are read and written: results are those of {@link HostBytes}.
 *
 * <p><b>Threading:</b> whoever holds the slot, one after another; the calls block until nothing native uses the memory any
 * more.
 *
 * <p><b>Ownership:</b> {@link #close} lets go of what is kept for the slot, before its memory is freed.
 */
public interface SlotBytes {

    /**
     * Reads into memory once; the caller goes on where a count is short.
     *
     * @return the bytes read; 0 at the end of the file
     * @throws IOException where the failure has no number
     */
    long read(NativeFile file, long fileOffset, long address, long bytes) throws IOException;

    /**
     * Writes from memory once; the caller goes on where a count is short.
     *
     * @throws IOException where the failure has no number
     */
    long write(NativeFile file, long fileOffset, long address, long bytes) throws IOException;

    /** Lets go of the slot's memory; nobody holds the slot. */
    default void close() {}
}
