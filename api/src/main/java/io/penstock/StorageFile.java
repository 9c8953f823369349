// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.file.Path;
import java.util.Set;
import reactor.core.publisher.Mono;

/**
 * An opened file.
 *
 * <p><b>Ownership:</b> the caller that opened it closes it. Closing while transfers are in flight is safe: the native close
 * happens when the last of them has ended (rules 201, 202). Thread-safe.
 */
public interface StorageFile extends AutoCloseable {

    /** Returns the path that it was opened by. */
    Path path();

    /** Returns the options that it was opened with. */
    Set<FileOption> options();

    /**
     * Returns the length in bytes that the operating system states now. Some files state 0 and still have bytes: those of
     * {@code /proc}, some of FUSE. {@link Backend#stream} reads such a file to its end if the plan names its path; so does
     * a transfer of a region that is longer than the file, and is short then. (Of a file of FUSE with {@code direct_io} that
     * states 0 the kernel gives io_uring nothing; {@code penstock.host.io=pool} reads it.)
     *
     * @throws ClosedException if the file is closed
     */
    long size();

    /** Returns the granularity in bytes that the device reads and writes without edges: 1 where there is none. */
    long blockSize();

    /** Returns the region from 0 to {@link #size()}: empty where a file states no length. */
    default FileRegion all() {
        return region(0, size());
    }

    /**
     * Returns a region; it may reach beyond the end: a read is then short, a write lengthens the file.
     *
     * @throws IllegalArgumentException if offset or length is negative, or their sum overflows
     */
    default FileRegion region(long offset, long length) {
        return new FileRegion(this, offset, length);
    }

    /**
     * Makes every write to this file that was accepted before the subscription durable, on all lanes, with the
     * metadata needed to read the bytes back ({@code fdatasync}).
     *
     * <p><b>Result:</b> completes empty when the device has answered.
     *
     * <p><b>Errors:</b> {@link PermanentStorageException} if the system could not write, or if an earlier sync of
     * this handle had failed: a failed sync stays failed, since the kernel reports a lost page once only (rule 403).
     *
     * <p><b>Cancellation:</b> drops the result; the sync itself goes on.
     */
    Mono<Void> sync();

    /**
     * Sets the length of the file.
     *
     * <p><b>Errors:</b> {@link PermanentStorageException} with the native answer; {@link IllegalArgumentException}
     * at once if {@code size} is negative.
     */
    Mono<Void> truncate(long size);

    /**
     * Reserves disk space for the first {@code size} bytes, so that writes there cannot fail for lack of space. The
     * file's length grows to {@code size} if it was shorter.
     *
     * <p><b>Errors:</b> {@link PermanentStorageException} with the native answer (ENOSPC, EOPNOTSUPP).
     */
    Mono<Void> preallocate(long size);

    /** Closes it; a second call does nothing. Transfers in flight end first; this call does not wait for them. */
    @Override
    void close();
}
