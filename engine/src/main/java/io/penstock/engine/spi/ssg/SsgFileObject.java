// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.host.HostFile;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A file as the driver saw it when it was opened, for reading or for writing.
 *
 * <p><b>Ownership:</b> whoever opens it is its first user, and each command is one until it has ended; the last closes it.
 */
public interface SsgFileObject {

    /** Opens one of a backend's. */
    @FunctionalInterface
    interface Opener {

        /**
         * Opens a file, which is there; blocks.
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
    }

    /**
     * Returns blocks as a driver tells them.
     *
     * @param request what the driver was asked for
     * @throws SsgRefusal if they are not what blocks can be
     */
    static long checkedBlock(String request, long bytes) throws SsgRefusal {
        if (bytes <= 0 || Long.bitCount(bytes) != 1) {
            throw new SsgRefusal(request + " refused: blocks of " + bytes + " bytes");
        }
        return bytes;
    }

    /** Returns what offsets and lengths are multiples of. */
    long blockBytes();

    /** Returns the length of the file as the driver has told it. */
    long bytes();

    /**
     * Returns whether the driver knows of all bytes up to {@code end}. This is for a driver that does not see a file grow;
     * of one that may, it is asked again.
     *
     * @throws SsgRefusal with the driver's answer
     */
    default boolean reaches(long end) throws SsgRefusal {
        return end <= bytes();
    }

    /**
     * Counts one more user; only while there is one.
     *
     * @throws SsgRefusal with the driver's answer
     */
    void retain() throws SsgRefusal;

    /** Counts one user less. */
    void release();
}
