// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ssg;

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
    }

    /** Returns what offsets and lengths are multiples of. */
    long blockBytes();

    /** Returns the length of the file when it was opened. */
    long bytes();

    /** Returns whether the driver knows of all bytes up to {@code end}. */
    boolean reaches(long end);

    /**
     * Counts one more user; only while there is one.
     *
     * @throws SsgRefusal with the driver's answer
     */
    void retain() throws SsgRefusal;

    /** Counts one user less. */
    void release();
}
