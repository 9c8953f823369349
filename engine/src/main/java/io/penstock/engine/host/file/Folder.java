// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.kit.ffi.LibC;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A folder that files are opened from by their names, so that the kernel need not walk their paths, and that shows
 * whether io_uring may open them: one that is not local, or leads to another mount, may answer late or never.
 *
 * <p><b>Threading:</b> one thread. <b>Ownership:</b> the opener closes it, once.
 */
public final class Folder implements AutoCloseable {

    private static final int STATFS_BYTES = 120;

    private final FileCalls calls;
    private final byte[] name;
    private final int fd;
    private final String reason;
    private int uses;
    private boolean closed;

    private Folder(FileCalls calls, byte[] name, int fd, String reason) {
        this.calls = calls;
        this.name = name;
        this.fd = fd;
        this.reason = reason;
    }

    /**
     * Opens the folder of a file. Blocks; does not throw: the opening of its files returns the same answer.
     *
     * @param path of the file, as the kernel takes it
     * @param end of the folder's name in it, which is from 0 to behind its last slash
     */
    public static Folder open(FileCalls calls, byte[] path, int end) {
        byte[] name = Arrays.copyOf(path, end);
        byte[] opened = end == 0 ? new byte[] {'.', 0} : Arrays.copyOf(name, end + 1);
        int fd = calls.open(opened, LibC.O_PATH | LibC.O_CLOEXEC, 0);
        if (fd < 0) {
            return new Folder(calls, name, fd, "the folder cannot be opened");
        }
        long type = calls.fileSystem(fd, ByteBuffer.allocateDirect(STATFS_BYTES).order(ByteOrder.nativeOrder()));
        String below = Storage.isLayered(type) ? Layers.remote(fd) : "";
        String system = below.isEmpty() ? Storage.name(type) : "an overlay on " + below;
        boolean local = type >= 0 && Storage.isLocal(type) && below.isEmpty();
        return new Folder(calls, name, fd, local ? "" : "the file system is " + system);
    }

    /** Returns where the name of a file begins in its path: behind the last slash. */
    public static int nameStart(byte[] path) {
        int at = path.length - 1;
        while (at > 0 && path[at - 1] != '/') {
            at--;
        }
        return at;
    }

    /** Returns whether it is the folder of a file. */
    public boolean has(byte[] path, int end) {
        return name.length == end && Arrays.equals(name, 0, end, path, 0, end);
    }

    /** Returns its descriptor. */
    public int fd() {
        return fd;
    }

    /** Returns why its files are not opened by io_uring; empty if they are. */
    public String reason() {
        return reason;
    }

    /** Counts an opening from it. */
    public Folder use() {
        uses++;
        return this;
    }

    /** Counts the end of an opening. */
    public void leave() {
        uses--;
        closeUnused();
    }

    /** Closes it, once no opening uses it. */
    @Override
    public void close() {
        closed = true;
        closeUnused();
    }

    private void closeUnused() {
        if (closed && uses == 0 && fd >= 0) {
            calls.close(fd);
        }
    }
}
