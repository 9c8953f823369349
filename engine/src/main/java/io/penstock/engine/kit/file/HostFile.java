// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.file;

import io.penstock.FileOption;
import io.penstock.engine.spi.NativeFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * A file that host queues read and write: a descriptor on Linux, a file channel elsewhere.
 *
 * <p><b>Threading:</b> thread-safe. <b>Errors:</b> {@link IOException} with the native error; also after
 * {@link #close}, when a reused descriptor is never accessed.
 *
 * <p><b>Ownership:</b> {@link #close} closes the file once; no native request may be using it.
 */
public interface HostFile extends NativeFile {

    /** How many reads of one place may return no bytes of it. */
    int MOST_IN_VAIN = 64;

    /** Returns the path with which the file was opened. */
    Path path();

    /** Returns its descriptor, which stays owned by this file; -1 once closed, or if a JDK channel reads the file. */
    int fd();

    /** As {@link io.penstock.StorageFile#cachedChannel}; the caller keeps this file open meanwhile. */
    default Optional<FileChannel> cachedChannel(long offset, long bytes) {
        return Optional.empty();
    }

    /** Returns its current stamp. */
    FileStamp stamp() throws IOException;

    /**
     * Extends the file to at least {@code bytes}, never below the length that another writer has given it meanwhile.
     * For writes up to there on a path that does not extend files: the last of these bytes may become 0.
     *
     * @throws IOException with the native error
     */
    void lengthen(long bytes) throws IOException;

    /**
     * Checks a read of 0 bytes, which is the end of the file only if that states no more; some servers return 0 where
     * they have failed, and a file that has grown since has more. Blocks.
     *
     * @param tries how many reads there have returned 0 bytes before
     * @return whether to read again
     * @throws EOFException if it was read often enough
     */
    default boolean goesOnAt(long offset, int tries) throws IOException {
        if (!hasItsLength()) {
            return false;
        }
        long stated = size();
        if (stated > offset && tries >= MOST_IN_VAIN) {
            throw new EOFException("0 bytes were read at " + offset + ", although the file states " + stated);
        }
        return stated > offset;
    }

    /**
     * Reads once. Blocks.
     *
     * @return the bytes read, 0 at the end of the file, or a negative number for {@link HostFailure}
     * @throws IOException if the failure has no known number
     */
    long read(long fileOffset, long address, long bytes) throws IOException;

    /**
     * Writes once. Blocks.
     *
     * @return the bytes written, or a negative number for {@link HostFailure}
     * @throws IOException if the failure has no known number
     */
    long write(long fileOffset, long address, long bytes) throws IOException;

    /**
     * Makes everything written durable. Blocks.
     *
     * @return 0, or a negative number for {@link HostFailure}
     * @throws IOException if the failure has no known number
     */
    long sync() throws IOException;

    /**
     * Rejects combinations that are meaningless on every operating system.
     *
     * @throws IllegalArgumentException if an option needs {@link FileOption#WRITE}, which is absent
     */
    static void check(Set<FileOption> options) {
        boolean writes = options.contains(FileOption.WRITE);
        for (FileOption option : options) {
            switch (option) {
                case CREATE, CREATE_NEW, TRUNCATE -> {
                    if (!writes) {
                        throw new IllegalArgumentException(option + " requires WRITE, options were " + options);
                    }
                }
                default -> {}
            }
        }
    }
}
