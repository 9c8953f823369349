// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.host.HostFile;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A file with its objects of the driver's: one for reading, and where it is written another for that, since the vendor supports
 * none that does both. An object does not see the file grow, so it is opened anew when it has.
 *
 * <p><b>Threading:</b> thread-safe; {@link #reach} and {@link #close} block.
 */
public final class SsgHandle {

    private final SsgFileObject.Opener opener;
    private final HostFile host;

    // Guarded by this; each is replaced by one that knows more of the file.
    private @Nullable SsgFileObject reader;
    private @Nullable SsgFileObject writer;

    private int users = 1; // guarded by SsgFiles

    private SsgHandle(
            SsgFileObject.Opener opener, HostFile host, SsgFileObject reader, @Nullable SsgFileObject writer) {
        this.opener = opener;
        this.host = host;
        this.reader = reader;
        this.writer = writer;
    }

    /**
     * Opens the objects of a file.
     *
     * @param host closed if this fails
     * @throws SsgRefusal if the driver does not want it
     */
    static SsgHandle open(SsgFileObject.Opener opener, HostFile host, boolean writes) throws IOException {
        SsgFileObject reader = null;
        try {
            reader = opener.open(host, false);
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
    public HostFile host() {
        return host;
    }

    /** Returns the block size of both objects together. */
    public synchronized long blockBytes() {
        long read = reader == null ? 1 : reader.blockBytes();
        return writer == null ? read : Math.max(read, writer.blockBytes());
    }

    /**
     * Returns an object for a command up to {@code end}, with one more user, whom the caller ends; null where
     * {@link #reach} has to be called first.
     *
     * @throws SsgRefusal if the driver does not count the user
     */
    public synchronized @Nullable SsgFileObject take(boolean write, long end) throws SsgRefusal {
        SsgFileObject object = write ? writer : reader;
        if (object == null || !object.reaches(end)) {
            return null;
        }
        object.retain();
        return object;
    }

    /**
     * Makes the file so long that a command may go up to {@code end}, where it writes, and opens the object anew if it
     * does not know of that. A driver may lengthen files that it writes, or not: so they are long enough before.
     *
     * @throws IOException with the native answer
     */
    public void reach(boolean write, long end) throws IOException {
        if (write) {
            host.lengthen(end);
        }
        synchronized (this) {
            SsgFileObject known = write ? writer : reader;
            if (known == null || known.reaches(end)) {
                return;
            }
        }
        replace(write, opener.open(host, write));
    }

    private synchronized void replace(boolean write, SsgFileObject fresh) {
        SsgFileObject old = write ? writer : reader;
        if (old == null || old.bytes() >= fresh.bytes()) {
            fresh.release(); // closed meanwhile, or another was quicker
            return;
        }
        old.release(); // commands that use it still count
        if (write) {
            writer = fresh;
        } else {
            reader = fresh;
        }
    }

    void enter() {
        users++;
    }

    /** Counts one user less; true for the last, who is to {@link #close} it. */
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
