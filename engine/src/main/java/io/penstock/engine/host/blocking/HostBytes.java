// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.blocking;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import java.io.IOException;

/**
 * Operations of staging workers on files and host memory.
 *
 * <p><b>Result:</b> bytes, or a negative number, not below -2^40, for {@link #failure(Request.Kind, long)}.
 *
 * <p><b>Threading:</b> thread-safe; the calls block.
 */
public interface HostBytes extends BufferBytes {

    /** Returns the reads and writes for a staging buffer: these calls, where registering it gains nothing. */
    default BufferBytes of(DeviceMemory staging) {
        return this;
    }

    /**
     * Makes completed writes durable; returns 0.
     *
     * @throws IOException if the failure has no error number
     */
    long sync(NativeFile file) throws IOException;

    /**
     * Returns the alignment of offsets, addresses and counts of reads and writes: the block size of a file that
     * bypasses the page cache, a power of two; 1 if there is no constraint.
     */
    long blockBytes(NativeFile file);

    /** Copies within host memory; the ranges may overlap. */
    void move(long target, long source, long bytes);

    /** Returns the failure for a negative result. */
    NativeFailure failure(Request.Kind kind, long result);

    /** Returns the failure for an exception thrown by one of these calls. */
    NativeFailure failure(Request.Kind kind, Throwable thrown);
}
