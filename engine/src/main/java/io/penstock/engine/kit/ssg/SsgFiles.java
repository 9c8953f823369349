// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.FileOption;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.host.HostFiles;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.Shared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.EnumSet;
import java.util.Set;

/**
 * The files of one backend that the driver has opened; its paths, and several openings of one file, share them.
 *
 * <p><b>Threading:</b> thread-safe; opening and closing block, of one file each other.
 */
final class SsgFiles {

    private static final String BOTH_RIGHTS =
            "AMD's manual requires the rights to read and to write a file, also to read it, and it may not be written";

    private record Key(Object identity, boolean writes) {}

    private final Shared<Key, SsgHandle> open = new Shared<>(SsgHandle::close);

    /**
     * Opens an existing file.
     *
     * @param opener opens files with the driver
     * @throws SsgRefusal if the driver refuses the file
     */
    SsgHandle open(SsgFileObject.Opener opener, Path path, Set<FileOption> options) throws IOException {
        boolean writes = options.contains(FileOption.WRITE);
        HostFile host = host(path, writes);
        SsgHandle opened;
        try {
            opened = open.open(new Key(host.identity(), writes), () -> SsgHandle.open(opener, host, writes));
        } catch (SsgRefusal refused) {
            boolean isDrivers = host.reason().isEmpty(); // else no right is missing
            throw isDrivers && !mayBeWritten(path) ? refused.with(BOTH_RIGHTS) : refused;
        }
        if (opened.host() != host) {
            host.close(); // it is open already
        }
        return opened;
    }

    /** Returns whether this process may write to a file, and not only since it is root. */
    private static boolean mayBeWritten(Path path) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(path, PosixFileAttributeView.class);
        return Files.isWritable(path)
                && (view == null
                        || view.readAttributes().permissions().stream()
                                .anyMatch(right -> right.name().endsWith("_WRITE")));
    }

    /**
     * Opens an existing file on the host: always for reading too, since partial blocks are read, merged and written.
     * Without O_DIRECT: this descriptor is for lengths only.
     */
    static HostFile host(Path path, boolean writes) throws IOException {
        Set<FileOption> how = writes ? EnumSet.of(FileOption.READ, FileOption.WRITE) : EnumSet.of(FileOption.READ);
        return HostFiles.open(path, how, Limits.LINUX_MAX_BYTES);
    }

    /** Closes a handle returned by {@link #open}. */
    void close(SsgHandle handle) {
        open.leave(handle);
    }
}
