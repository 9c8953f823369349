// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import java.io.IOException;

/**
 * What fillers do to files and host memory.
 *
 * <p><b>Result:</b> bytes, or a negative number, not below -2^40, for {@link #failure(Request.Kind, long)}.
 *
 * <p><b>Threading:</b> thread-safe; the calls block.
 */
public interface HostBytes extends SlotBytes {

    /** Returns how the bytes of a slot are read and written: by these calls, where nothing is gained by knowing it. */
    default SlotBytes of(DeviceMemory slot) {
        return this;
    }

    /**
     * Makes completed writes durable; answers 0.
     *
     * @throws IOException where the failure has no number
     */
    long sync(NativeFile file) throws IOException;

    /**
     * Returns what offsets, addresses and counts of reads and writes must be multiples of: the block of a file opened
     * past the page cache, a power of two; 1 where anything goes.
     */
    long blockBytes(NativeFile file);

    /** Copies within host memory; the ranges may overlap. */
    void move(long target, long source, long bytes);

    /** Returns what a negative number means. */
    NativeFailure failure(Request.Kind kind, long result);

    /** Returns what an exception of one of these calls means. */
    NativeFailure failure(Request.Kind kind, Throwable thrown);
}
