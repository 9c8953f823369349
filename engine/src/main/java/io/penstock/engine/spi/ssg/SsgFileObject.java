// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.host.HostFile;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A file as the driver saw it when it was opened, for reading or for writing.
 *
 * <p><b>Ownership:</b> its opener is its first user, and each command is one until it has ended; the last one frees it.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public abstract class SsgFileObject {

    /** Opens the files of a backend. */
    @FunctionalInterface
    public interface Opener {

        /**
         * Opens an existing file; blocks.
         *
         * @throws SsgRefusal with the driver's answer
         */
        SsgFileObject open(Path path, boolean write) throws IOException;

        /**
         * Opens a file that the host has open, by its name, which is all that the vendor takes, and makes sure that it is
         * the same file; blocks.
         *
         * @throws SsgRefusal with the driver's answer, or if the name is another file's now
         */
        default SsgFileObject open(HostFile host, boolean write) throws IOException {
            SsgFileObject object = open(host.path(), write);
            try {
                HostFile named = SsgFiles.host(host.path(), false);
                boolean same = named.identity().equals(host.identity());
                named.close();
                if (!same) {
                    throw new SsgRefusal(host.path() + " is another file now");
                }
                return object;
            } catch (IOException | RuntimeException e) {
                object.release();
                throw e;
            }
        }

        /** Returns whether an object that was opened for writing also reads, and so is the only one of its file. */
        default boolean readsByWriter() {
            return false;
        }
    }

    private final long handle;
    private final long blockBytes;
    private int users = 1; // guarded by this

    /** Takes over a handle of the driver's. */
    protected SsgFileObject(long handle, long blockBytes) {
        this.handle = handle;
        this.blockBytes = blockBytes;
    }

    /**
     * Returns the block size that a driver has answered.
     *
     * @param request what the driver was asked for
     * @throws SsgRefusal if it is not a power of two
     */
    public static long checkedBlock(String request, long bytes) throws SsgRefusal {
        if (bytes <= 0 || Long.bitCount(bytes) != 1) {
            throw new SsgRefusal(request + " refused: blocks of " + bytes + " bytes");
        }
        return bytes;
    }

    /** Returns the driver's handle. */
    public final long handle() {
        return handle;
    }

    /** Returns what offsets and lengths are multiples of. */
    public final long blockBytes() {
        return blockBytes;
    }

    /**
     * Returns whether the driver knows of all bytes up to {@code end}; no call to it.
     *
     * @param size the length of the file now, or negative if that was not looked at
     */
    protected abstract boolean knows(long end, long size);

    /**
     * Asks the driver how long the file is, if it may have seen that change; called as {@link SsgDevice#execute} says.
     *
     * @throws SsgRefusal with the driver's answer
     */
    protected void ask() throws SsgRefusal {}

    /**
     * Counts one more user; only while there is one.
     *
     * @throws SsgRefusal with the answer of a driver that counts
     */
    public void retain() throws SsgRefusal {
        synchronized (this) {
            users++;
        }
    }

    /** Counts one more user that never ends: the driver may still use it, and nothing will tell when it does not. */
    public final synchronized void keepForGood() {
        users++;
    }

    /** Counts one user less. */
    public void release() {
        synchronized (this) {
            if (--users > 0) {
                return;
            }
        }
        free();
    }

    /** Has the driver release it. */
    protected abstract void free();
}
