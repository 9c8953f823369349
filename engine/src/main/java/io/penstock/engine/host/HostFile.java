// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.FileOption;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.ffi.Machine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/**
 * A file that host queues read and write: a descriptor on Linux, a file channel elsewhere.
 *
 * <p><b>Threading:</b> thread-safe. <b>Errors:</b> {@link IOException} with the native answer; after {@link #close}
 * too, never a use of somebody else's descriptor.
 *
 * <p><b>Ownership:</b> {@link #close} closes it once; no native request may be using it.
 */
public sealed interface HostFile extends NativeFile permits LinuxFile, ChannelFile {

    /** Returns the path that it was opened by. */
    Path path();

    /** Returns its stamp as of now. */
    FileStamp stamp() throws IOException;

    /**
     * Makes it at least {@code bytes} long, never shorter than another writer has made it meanwhile. For who is about to
     * write up to there by a way that does not lengthen files: the last of these bytes may become 0.
     *
     * @throws IOException with the native answer
     */
    void lengthen(long bytes) throws IOException;

    /**
     * Reads once, and blocks meanwhile.
     *
     * @return the bytes read, 0 at the end of the file, or a negative number for {@link BlockingBytes#failure}
     * @throws IOException where the failure has no number that is known
     */
    long read(long fileOffset, long address, long bytes) throws IOException;

    /**
     * Writes once, and blocks meanwhile.
     *
     * @return the bytes written, or a negative number for {@link BlockingBytes#failure}
     * @throws IOException where the failure has no number that is known
     */
    long write(long fileOffset, long address, long bytes) throws IOException;

    /**
     * Makes everything written durable, and blocks meanwhile.
     *
     * @return 0, or a negative number for {@link BlockingBytes#failure}
     * @throws IOException where the failure has no number that is known
     */
    long sync() throws IOException;

    /**
     * Opens a file as this operating system does best.
     *
     * @param pieceBytes how much one request should move
     * @throws IOException with the native answer
     */
    static HostFile open(Path path, Set<FileOption> options, long pieceBytes) throws IOException {
        return Machine.isSupported()
                ? LinuxFile.open(path, options, pieceBytes)
                : ChannelFile.open(path, options, pieceBytes);
    }

    /** Refuses combinations that no operating system gives a meaning to. */
    static void check(Set<FileOption> options) {
        boolean writes = options.contains(FileOption.WRITE);
        for (FileOption option : options) {
            switch (option) {
                case CREATE, CREATE_NEW, TRUNCATE -> {
                    if (!writes) {
                        throw new IllegalArgumentException(option + " needs WRITE, unlike " + options);
                    }
                }
                default -> {}
            }
        }
    }
}
