// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.engine.kit.file.HostFile;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A file as the driver saw it when it was opened, for reading or for writing.
 *
 * <p><b>Ownership:</b> its opener is its first user, and each command is a user until it has ended; the last user frees
 * it.
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
         * @throws SsgRefusal with the driver's error
         */
        SsgFileObject open(Path path, boolean write) throws IOException;

        /**
         * Opens a file that the host has open, by its name, since the vendor takes nothing else, and verifies that it
         * is the same file; blocks.
         *
         * @throws SsgRefusal with the driver's error, or if the name now refers to another file
         */
        default SsgFileObject open(HostFile host, boolean write) throws IOException {
            SsgFileObject object = open(host.path(), write);
            try {
                HostFile named = SsgFiles.host(host.path(), false);
                boolean same = named.identity().equals(host.identity());
                named.close();
                if (!same) {
                    throw new SsgRefusal(host.path() + " has been replaced by another file");
                }
                return object;
            } catch (IOException | RuntimeException | Error e) {
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

    /** Takes ownership of a driver handle. */
    protected SsgFileObject(long handle, long blockBytes) {
        this.handle = handle;
        this.blockBytes = blockBytes;
    }

    /**
     * Checks and returns the block size that a driver has reported.
     *
     * @param request the request to the driver
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

    /** Returns the alignment of offsets and lengths. */
    public final long blockBytes() {
        return blockBytes;
    }

    /**
     * Returns whether the driver sees all bytes up to {@code end}; makes no driver call.
     *
     * @param size the length of the file now, or negative if it was not checked
     */
    protected abstract boolean covers(long end, long size);

    /**
     * Queries the file's length from the driver, if the driver may see a change; called by {@link SsgDevice#execute}.
     *
     * @throws SsgRefusal with the driver's error
     */
    protected void queryLength() throws SsgRefusal {}

    /**
     * Adds a user; only while there is one.
     *
     * @throws SsgRefusal with the error of a driver that counts references
     */
    public void retain() throws SsgRefusal {
        synchronized (this) {
            users++;
        }
    }

    /**
     * Adds a user that never leaves: the driver may still use the object, and does not report when it no longer does.
     */
    public final synchronized void retainForever() {
        users++;
    }

    /**
     * Removes a user.
     *
     * @throws IllegalStateException if there is none: the driver would release the file twice
     */
    public void release() {
        synchronized (this) {
            if (users == 0) {
                throw new IllegalStateException("the file object has no user");
            }
            if (--users > 0) {
                return;
            }
        }
        free();
    }

    /** Makes the driver release it. */
    protected abstract void free();
}
