// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.host.HostBytes;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.WrappedFile;

/**
 * A file of the host as a {@link StagedQueue} takes it; a route that stages opens one of these.
 *
 * <p>Reads of any range are taken, whatever the blocks of the file: fillers read the blocks around it, and the device
 * copies the part that was asked for. Writes have no such way out, so a file that can be written states its blocks,
 * and the lane reads, merges and writes them through bounce slots under its locks (rule 206).
 */
final class StagedFile extends WrappedFile<NativeFile> {

    /**
     * Wraps a file.
     *
     * @param host as {@code bytes} knows it
     * @param writable whether it is open for writing
     * @throws IllegalArgumentException if its blocks are too large for slots of these sizes
     */
    StagedFile(NativeFile host, HostBytes bytes, SlotSizes sizes, boolean writable) {
        super(host, sizes.limits(bytes.blockBytes(host), writable));
    }

    static NativeFile host(NativeFile file) {
        return file instanceof StagedFile staged ? staged.host() : file;
    }
}
