// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.io.IOException;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * A file as the requests of one path address it: a descriptor, a registered handle, a vendor's file object.
 *
 * <p>Thread-safe.
 */
public interface NativeFile extends AutoCloseable {

    /** Returns the alignment and the sizes of requests on this file. */
    Limits limits();

    /**
     * Returns whether a READ may end inside a block where {@linkplain DeviceMemory#slack() slack} follows its memory:
     * the queue then reads all of that block.
     */
    default boolean readsIntoSlack() {
        return false;
    }

    /**
     * Returns the file system whose requests may wait for as long as a server of it likes: equal for all of its files.
     * An I/O queue has few requests of it in flight, so that others continue. Null where a local disk answers.
     */
    default @Nullable Object lane() {
        return null;
    }

    /**
     * Returns whether even {@link #size} may wait for a server, so that no I/O queue may call it. By default of files
     * that have a {@link #lane}.
     */
    default boolean mayWait() {
        return lane() != null;
    }

    /**
     * Reads what the host has in memory, without waiting for a device; any thread.
     *
     * @param address of host memory
     * @return how many bytes were read; not all if some are not in memory, or it does not tell
     */
    default long readCached(long offset, long address, long bytes) {
        return 0;
    }

    /** Returns why requests on this file go another way than its path's other requests; empty if they do not. */
    default String reason() {
        return "";
    }

    /** Returns a value that is equal for two handles of the same file, such as device and inode. */
    Object identity();

    /**
     * Returns its current length in bytes; one system call, which is fast unless it {@link #mayWait}.
     *
     * @throws IOException with the native error
     */
    long size() throws IOException;

    /**
     * Returns whether it has as many bytes as {@link #size} states: files of sysfs state a page, whatever they have.
     */
    default boolean hasItsLength() {
        return true;
    }

    /**
     * Returns its attributes as of its opening, also once it is closed. By default the attributes of a regular file of
     * this identity and length, whose times are not known.
     *
     * @throws IOException with the native error
     */
    default BasicFileAttributes attributes() throws IOException {
        return new FileAttributes(true, size(), FileAttributes.UNKNOWN, identity());
    }

    /**
     * Sets its length.
     *
     * @throws IOException with the native error
     */
    void truncate(long bytes) throws IOException;

    /**
     * Reserves disk space for the first {@code bytes}, extending the file if it is shorter.
     *
     * @throws IOException with the native error
     */
    void preallocate(long bytes) throws IOException;

    /**
     * Closes the file. Called once, when no native request uses it any more; any thread.
     *
     * @throws java.io.UncheckedIOException with the native error if the system could not keep what was written; it is
     *     closed
     */
    @Override
    void close();
}
