// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.Set;
import reactor.core.publisher.Mono;

/**
 * An opened file.
 *
 * <p><b>Ownership:</b> the caller that opened it closes it. Closing while transfers are in flight is safe: the native
 * close happens when the last of them has ended (rules 201, 202). Thread-safe.
 */
public interface StorageFile extends AutoCloseable {

    /**
     * Returns the path with which the file was opened. For a file on another host it is made from the URI, which {@link
     * Path#toUri} returns if {@code java.nio.file} has a provider of the scheme.
     */
    Path path();

    /** Returns the URI with which the file was opened; else the URI of its path. */
    default URI uri() {
        return path().toUri();
    }

    /** Returns the options with which the file was opened. */
    Set<FileOption> options();

    /**
     * Returns the length in bytes that the operating system reports now. Some files report 0 and still have bytes:
     * files of {@code /proc}, some files of FUSE. {@link Backend#stream} reads such a file to its end if the plan names
     * its path; so does a transfer of a region that is longer than the file, as a short read. (If a FUSE file with
     * {@code direct_io} reports 0, io_uring reads no bytes from it; {@code penstock.host.io=pool} does.)
     *
     * @throws ClosedException if the file is closed
     * @throws java.io.UncheckedIOException if the system does not know it; names the file and the native error
     */
    long size();

    /**
     * Returns the attributes that the operating system reported when the file was opened: the attributes of this file,
     * even if its path leads to another one by now. Does not block.
     *
     * <p>{@link BasicFileAttributes#fileKey} is equal for two openings of one file by one backend; the key of a file of
     * this host has the text of the JDK's own key, where there is one. Times that are not known, such as the times of a
     * file on another host, are the epoch.
     */
    BasicFileAttributes attributes();

    /**
     * Returns the granularity in bytes at which the device reads and writes without unaligned edges; 1 if there is
     * none.
     */
    long blockSize();

    /** Returns the region from 0 to {@link #size()}: empty if the reported length is 0. */
    default FileRegion all() {
        return region(0, size());
    }

    /**
     * Returns a region, which may reach beyond the end: a read is then short, a write extends the file.
     *
     * @throws IllegalArgumentException if offset or length is negative, or their sum overflows
     */
    default FileRegion region(long offset, long length) {
        return new FileRegion(this, offset, length);
    }

    /**
     * Opens a channel of this very file, whatever its name refers to by now, if the system has all of these bytes in
     * memory: what reads them there, such as {@link FileChannel#transferTo} to a socket, waits for no disk and costs no
     * copy. Waits for no disk itself; the kernel looks up each page.
     *
     * <p><b>Result:</b> empty if some bytes are not in memory, or if that is not known: for files of servers and other
     * hosts, files opened with {@link FileOption#DIRECT}, more than 1 GiB, and backends without io_uring. If the user
     * neither owns the file nor may write to it, Linux reports all bytes as in memory.
     *
     * <p><b>Ownership:</b> the caller closes the channel, which may outlive this file. <b>Errors:</b>
     * {@link ClosedException} if this file is closed; {@link IllegalArgumentException} as {@link #region}.
     */
    default Optional<FileChannel> cachedChannel(long offset, long length) {
        return Optional.empty();
    }

    /**
     * Makes every write to this file that was accepted before the subscription durable, on all I/O queues, with the
     * metadata needed to read the bytes back ({@code fdatasync}).
     *
     * <p><b>Result:</b> completes empty when the sync has completed.
     *
     * <p><b>Errors:</b> {@link PermanentStorageException} if the system could not write, or if an earlier sync of this
     * handle had failed: a failed sync stays failed, since the kernel reports a lost page once only (rule 403); {@link
     * TransientStorageException} if the other host of a file could not be asked: nothing is lost, and a later sync may
     * succeed; {@link DeviceLostException} if the device that holds the file is gone.
     *
     * <p><b>Cancellation:</b> drops the result; the sync itself continues.
     */
    Mono<Void> sync();

    /**
     * Sets the length of the file.
     *
     * <p><b>Errors:</b> {@link PermanentStorageException} with the native error; {@link IllegalArgumentException} at
     * once if {@code size} is negative.
     */
    Mono<Void> truncate(long size);

    /**
     * Reserves disk space for the first {@code size} bytes, so that writes there cannot fail for lack of space. The
     * file's length grows to {@code size} if it was shorter.
     *
     * <p><b>Errors:</b> {@link PermanentStorageException} with the native error (ENOSPC, EOPNOTSUPP).
     */
    Mono<Void> preallocate(long size);

    /**
     * Closes the file; a second call does nothing. Does not wait for transfers in flight; the native close follows
     * them.
     *
     * <p><b>Errors:</b> none. If the system reports at the native close that it could not keep what was written, as
     * some file systems of servers do, the log has a warning; only a {@link #sync} before proves that bytes are stored.
     */
    @Override
    void close();
}
