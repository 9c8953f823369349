// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.host.HostFile;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A file with its objects of the driver: one for reading, and where it is written another for that, unless one does both. An
 * object may not see the file grow, and is replaced by one that knows more of it.
 *
 * <p><b>Threading:</b> thread-safe; {@link #reach} and {@link #close} block.
 */
final class SsgHandle {

    private final SsgFileObject.Opener opener;
    private final HostFile host;
    private final boolean oneObject;

    // Guarded by this; null when it is closed.
    private @Nullable SsgFileObject reader;
    private @Nullable SsgFileObject writer;

    private int users = 1; // guarded by SsgFiles

    private SsgHandle(
            SsgFileObject.Opener opener,
            HostFile host,
            @Nullable SsgFileObject reader,
            @Nullable SsgFileObject writer) {
        this.opener = opener;
        this.host = host;
        this.oneObject = reader == null;
        this.reader = reader;
        this.writer = writer;
    }

    /**
     * Opens the objects of a file.
     *
     * @param host closed if this fails
     * @throws SsgRefusal if the driver does not take it
     */
    static SsgHandle open(SsgFileObject.Opener opener, HostFile host, boolean writes) throws IOException {
        SsgFileObject reader = null;
        try {
            reader = writes && opener.readsByWriter() ? null : opener.open(host, false);
            return new SsgHandle(opener, host, reader, writes ? opener.open(host, true) : null);
        } catch (IOException | RuntimeException e) {
            if (reader != null) {
                reader.release();
            }
            host.close();
            throw e;
        }
    }

    /** Returns the file as the host has it. */
    HostFile host() {
        return host;
    }

    /** Returns the block size of both objects together. */
    synchronized long blockBytes() {
        long read = reader == null ? 1 : reader.blockBytes();
        return writer == null ? read : Math.max(read, writer.blockBytes());
    }

    private synchronized @Nullable SsgFileObject object(boolean write) {
        return write || oneObject ? writer : reader;
    }

    /**
     * Returns an object for a command up to {@code end}, with one more user, which the caller ends; null where
     * {@link #reach} has to be called first.
     *
     * @param size the length of the file now, or negative if that was not looked at
     * @throws SsgRefusal if the driver does not count the user
     */
    synchronized @Nullable SsgFileObject take(boolean write, long end, long size) throws SsgRefusal {
        SsgFileObject object = object(write);
        if (object == null || !object.knows(end, size)) {
            return null;
        }
        object.retain();
        return object;
    }

    /**
     * Opens the object for a command up to {@code end} anew, if it does not know of so much.
     *
     * @throws IOException with the native answer
     */
    void reach(boolean write, long end) throws IOException {
        SsgFileObject known = object(write);
        if (known == null) {
            return;
        }
        known.ask();
        if (!known.knows(end, host.size())) {
            replace(known, opener.open(host, write || oneObject));
        }
    }

    private synchronized void replace(SsgFileObject known, SsgFileObject fresh) {
        if (known == reader) {
            reader = fresh;
        } else if (known == writer) {
            writer = fresh;
        } else {
            fresh.release(); // closed meanwhile, or another thread was quicker
            return;
        }
        known.release(); // commands that use it still count
    }

    void enter() {
        users++;
    }

    /** Counts one user less; returns true for the last, which calls {@link #close}. */
    boolean leave() {
        return --users == 0;
    }

    /** Lets go of the objects, and closes the file. */
    void close() {
        synchronized (this) {
            if (reader != null) {
                reader.release();
            }
            if (writer != null) {
                writer.release();
            }
            reader = null;
            writer = null;
        }
        host.close();
    }
}
