// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.engine.host.blocking.BlockingBytes;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.HostFile;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A file with its driver objects: one for reading, and one for writing if needed, unless one object does both. An
 * object may not see the file grow, and is replaced by a newer one.
 *
 * <p><b>Threading:</b> thread-safe; {@link #reach} and {@link #close} block.
 */
final class SsgHandle {

    private final SsgFileObject.Opener opener;
    private final HostFile host;
    private final boolean oneObject;

    // Guarded by this; null when closed.
    private @Nullable SsgFileObject reader;
    private @Nullable SsgFileObject writer;

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
     * @throws SsgRefusal if the driver refuses the file
     */
    static SsgHandle open(SsgFileObject.Opener opener, HostFile host, boolean writes) throws IOException {
        SsgFileObject reader = null;
        try {
            if (!host.reason().isEmpty()) { // the I/O queue asks for lengths, and must wait for no server
                throw new SsgRefusal(host + " does not lie on a local disk: it goes by " + host.reason());
            }
            if (statesNoLength(host)) {
                throw new SsgRefusal(host + " states no length, and the driver reads no further than that");
            }
            reader = writes && opener.readsByWriter() ? null : opener.open(host, false);
            return new SsgHandle(opener, host, reader, writes ? opener.open(host, true) : null);
        } catch (IOException | RuntimeException e) {
            if (reader != null) {
                reader.release();
            }
            try (host) {
                throw e; // also if the close fails
            }
        }
    }

    /** Returns whether a file has bytes although its length is 0. */
    private static boolean statesNoLength(HostFile host) throws IOException {
        if (host.size() > 0) {
            return false;
        }
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        try {
            return BlockingBytes.INSTANCE.read(host, 0, NativeMemory.address(one), 1) > 0 && host.size() == 0;
        } finally {
            Reference.reachabilityFence(one);
        }
    }

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
     * Returns an object for a command up to {@code end}, with one more user, which the caller releases; null if
     * {@link #reach} must be called first.
     *
     * @param size the length of the file now, or negative if it was not checked
     * @throws SsgRefusal if the driver refuses the reference
     */
    synchronized @Nullable SsgFileObject take(boolean write, long end, long size) throws SsgRefusal {
        SsgFileObject object = object(write);
        if (object == null || !object.covers(end, size)) {
            return null;
        }
        object.retain();
        return object;
    }

    /**
     * Reopens the object for a command up to {@code end}, if it does not see that much of the file.
     *
     * @throws IOException with the native error
     */
    void reach(boolean write, long end) throws IOException {
        SsgFileObject known = object(write);
        if (known == null) {
            return;
        }
        known.queryLength();
        if (!known.covers(end, host.size())) {
            replace(known, opener.open(host, write || oneObject));
        }
    }

    private synchronized void replace(SsgFileObject known, SsgFileObject fresh) {
        if (known == reader) {
            reader = fresh;
        } else if (known == writer) {
            writer = fresh;
        } else {
            fresh.release(); // closed meanwhile, or another thread was faster
            return;
        }
        known.release(); // commands that use it remain users
    }

    /** Releases the objects, and closes the file. */
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
