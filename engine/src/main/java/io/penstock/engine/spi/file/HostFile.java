// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.file;

import io.penstock.FileOption;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;
import java.nio.file.Path;
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

    /** Returns the path with which the file was opened. */
    Path path();

    /** Returns its descriptor, which stays owned by this file; -1 once closed, or if a JDK channel reads the file. */
    int fd();

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
