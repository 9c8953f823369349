// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.io.IOException;

/**
 * A file as the requests of one route know it: a descriptor, a registered handle, a vendor's file object.
 *
 * <p>Thread-safe.
 */
public interface NativeFile {

    /** Returns what requests on this file must be multiples of, and how long they may be. */
    Limits limits();

    /**
     * Returns whether a READ may end inside a block where {@linkplain DeviceMemory#slack() slack} follows its memory: the
     * queue then reads all of that block.
     */
    default boolean readsIntoSlack() {
        return false;
    }

    /** Returns a value that is equal for two handles of the same file, such as device and inode. */
    Object identity();

    /**
     * Returns its length in bytes as of now; one quick system call.
     *
     * @throws IOException with the native answer
     */
    long size() throws IOException;

    /**
     * Sets its length.
     *
     * @throws IOException with the native answer
     */
    void truncate(long bytes) throws IOException;

    /**
     * Reserves disk space for the first {@code bytes}, lengthening the file if it is shorter.
     *
     * @throws IOException with the native answer
     */
    void preallocate(long bytes) throws IOException;

    /** Closes it. Called once, when no native request uses it any more; any thread. */
    void close();
}
