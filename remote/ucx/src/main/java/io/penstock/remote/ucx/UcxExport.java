// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.FileOption;
import java.net.URI;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A file or a buffer that other processes can open by a URI, as long as this is open.
 *
 * <p><b>Ownership:</b> the caller that exported it closes it. Thread-safe.
 */
public final class UcxExport implements AutoCloseable {

    static final int READ = 1;
    static final int WRITE = 2;

    private final UcxListener listener;
    private final URI uri;
    private final long number;
    private final Source source;
    private final int access;
    private final Set<ServedPeer> peers = ConcurrentHashMap.newKeySet();
    private int uses; // accesses in progress; guarded by this
    private boolean closed; // guarded by this

    UcxExport(UcxListener listener, URI uri, long number, Source source, int access) {
        this.listener = listener;
        this.uri = uri;
        this.number = number;
        this.source = source;
        this.access = access;
    }

    /**
     * Returns the URI by which it is opened: {@code ucx://host:port/token}. Grants access to any process that knows it.
     */
    public URI uri() {
        return uri;
    }

    /**
     * Returns whether bytes go through staging memory of the listener: the bytes of files do, and the bytes of devices,
     * unless UCX accesses their memory itself ({@link UcxOptions#GPU_DIRECT}).
     */
    public boolean isStaged() {
        return source.address() == 0;
    }

    long number() {
        return number;
    }

    Source source() {
        return source;
    }

    /** Returns the access of options; without any of the two, READ. */
    static int access(Collection<FileOption> options) {
        boolean writes = options.contains(FileOption.WRITE);
        boolean reads = options.contains(FileOption.READ) || !writes;
        return (reads ? READ : 0) | (writes ? WRITE : 0);
    }

    /** Returns what readers may do: {@link #READ}, {@link #WRITE} or both. */
    int access() {
        return access;
    }

    /** Begins an access; returns false if it is closed. */
    synchronized boolean enter() {
        if (closed) {
            return false;
        }
        uses++;
        return true;
    }

    /** Ends an access. */
    void leave() {
        boolean last;
        synchronized (this) {
            last = --uses == 0 && closed;
        }
        if (last) {
            source.release();
        }
    }

    void openedBy(ServedPeer peer) {
        peers.add(peer);
    }

    void closedBy(ServedPeer peer) {
        peers.remove(peer);
    }

    /**
     * Ends the export; a second call does nothing. Readers are notified, and their later transfers fail with
     * {@link io.penstock.PermanentStorageException}. Does not wait for accesses in progress; a buffer is kept until
     * they have ended.
     */
    @Override
    public void close() {
        boolean last;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            last = uses == 0;
        }
        listener.closed(this);
        peers.forEach(peer -> peer.revoke(this));
        if (last) {
            source.release();
        }
    }

    @Override
    public String toString() {
        return uri.toString();
    }
}
