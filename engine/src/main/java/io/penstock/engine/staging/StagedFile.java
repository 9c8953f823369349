// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Options;
import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.kit.WrappedFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.StagingOptions;

/**
 * A host file for a {@link StagedQueue}; a staging path opens these.
 *
 * <p>Accepts reads of any range, whatever the blocks of the file: staging workers read the enclosing blocks, and the
 * device copies the requested part. This does not work for writes, so a writable file states its blocks, and the I/O
 * queue reads, merges and writes them through bounce buffers under its locks (rule 206).
 */
public final class StagedFile extends WrappedFile<NativeFile> {

    /**
     * Wraps a file.
     *
     * @param host as {@code bytes} accesses it
     * @param writable whether it is open for writing
     * @throws IllegalArgumentException if its blocks are too large for staging buffers of this size
     */
    public StagedFile(NativeFile host, HostBytes bytes, Options options, boolean writable) {
        super(host, limits(options.get(StagingOptions.BUFFER_BYTES), bytes.blockBytes(host), writable));
    }

    /** A request and its enclosing blocks fit a staging buffer, wherever it starts. */
    private static Limits limits(long bufferBytes, long blockBytes, boolean writable) {
        long fits = Math.min(bufferBytes, StagingBuffers.allocatedBytes(bufferBytes) - 3 * blockBytes);
        long whole = fits - fits % blockBytes;
        return new Limits(writable ? blockBytes : 1, 1, whole, whole, true);
    }

    static NativeFile host(NativeFile file) {
        return file instanceof StagedFile staged ? staged.host() : file;
    }
}
