// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.WrappedFile;

/**
 * A host file for a {@link StagedQueue}; a staging path opens these.
 *
 * <p>Accepts reads of any range, whatever the blocks of the file: staging workers read the enclosing blocks, and the
 * device copies the requested part. This does not work for writes, so a writable file states its blocks, and the I/O
 * queue reads, merges and writes them through bounce buffers under its locks (rule 206).
 */
final class StagedFile extends WrappedFile<NativeFile> {

    /**
     * Wraps a file.
     *
     * @param host as {@code bytes} accesses it
     * @param writable whether it is open for writing
     * @throws IllegalArgumentException if its blocks are too large for staging buffers of these sizes
     */
    StagedFile(NativeFile host, HostBytes bytes, StagingSizes sizes, boolean writable) {
        super(host, sizes.limits(bytes.blockBytes(host), writable));
    }

    static NativeFile host(NativeFile file) {
        return file instanceof StagedFile staged ? staged.host() : file;
    }
}
