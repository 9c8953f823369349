// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file on a disk that has no name ({@code O_TMPFILE}): the kernel frees it when the process ends, in any way, unless
 * it has been given a name.
 *
 * <p><b>Ownership:</b> the caller of {@link #in} closes it.
 */
public final class UnnamedFile implements AutoCloseable {

    // __O_TMPFILE and O_DIRECTORY, of which AArch64 kept the number of 32-bit ARM.
    private static final int O_TMPFILE = 0x400000 | (Machine.architecture().equals("aarch64") ? 0x4000 : 0x10000);

    private static final String DESCRIPTORS = "/proc/self/fd/";

    private static volatile boolean hasProc; // known only if it has

    private final int fd;
    private boolean closed; // guarded by this

    private UnnamedFile(int fd) {
        this.fd = fd;
    }

    /**
     * Creates an empty file in a directory; empty if the system, the JVM, the file system or the directory does not
     * allow it.
     *
     * @param mode its permissions, less the umask
     */
    public static Optional<UnnamedFile> in(Path folder, int mode) {
        if (folder.getFileSystem() != FileSystems.getDefault()
                || !Machine.isSupported()
                || NativeAccess.refusal() != null) {
            return Optional.empty();
        }
        int fd = LibC.orErrno(LibC.open(PathName.of(folder), O_TMPFILE | LibC.O_RDWR | LibC.O_CLOEXEC, mode));
        if (fd < 0) {
            return Optional.empty();
        }
        UnnamedFile file = new UnnamedFile(fd);
        if (!hasProc && !Files.exists(file.path())) {
            file.close();
            return Optional.empty();
        }
        hasProc = true;
        return Optional.of(file);
    }

    /** Returns its descriptor, which stays its own. */
    public int fd() {
        return fd;
    }

    /** Returns a path by which this process can open it. */
    public Path path() {
        return Path.of(DESCRIPTORS + fd);
    }

    /**
     * Gives it a name in the file system that it is in.
     *
     * @throws FileAlreadyExistsException if the name exists, whatever it refers to
     */
    public void link(Path name) throws IOException {
        byte[] own = (DESCRIPTORS + fd + "\0").getBytes(StandardCharsets.US_ASCII);
        int error = LibC.orErrno(
                Links.linkat(Links.AT_FDCWD, own, Links.AT_FDCWD, PathName.of(name), Links.AT_SYMLINK_FOLLOW));
        if (error == -Errno.EEXIST) {
            throw new FileAlreadyExistsException(name.toString());
        }
        if (error < 0) {
            throw new FileSystemException(name.toString(), null, "linkat: " + Errno.symbol(-error));
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            LibC.close(fd);
        }
    }

    /** {@code linkat(2)}; separate, so that it is resolved only on Linux. */
    private static final class Links {

        static final int AT_FDCWD = -100;
        static final int AT_SYMLINK_FOLLOW = 0x400;

        static {
            Native.register(Links.class, NativeLibrary.getProcess());
        }

        private Links() {}

        /** Both names end with a zero byte; leaves {@code errno}. */
        static native int linkat(int oldFolder, byte[] oldName, int newFolder, byte[] newName, int flags);
    }
}
