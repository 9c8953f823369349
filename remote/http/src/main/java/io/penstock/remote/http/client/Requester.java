// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Who sends requests: an opening, or a read, which may be ended early. Its sockets are closed then, whichever of its
 * requests they are for, so that no thread waits for one.
 *
 * <p>Thread-safe.
 */
class Requester {

    private final Set<Closeable> sockets = new HashSet<>(); // guarded by this, as all below
    private boolean ending;

    /**
     * Adds a socket that is being opened.
     *
     * @throws ClosedChannelException if this is to end; the caller closes the socket
     */
    synchronized void opens(Closeable socket) throws ClosedChannelException {
        if (ending) {
            throw new ClosedChannelException();
        }
        sockets.add(socket);
    }

    /** As {@link #opens}, for a connection, which has one of those sockets. */
    synchronized void uses(Connection connection) throws ClosedChannelException {
        sockets.clear();
        opens(connection);
    }

    /** Forgets the connection: another one may use it next. */
    synchronized void leaves() {
        sockets.clear();
    }

    final synchronized boolean isEnding() {
        return ending;
    }

    /** Ends it early: notifies those who wait for this, and closes its sockets. */
    void end() {
        List<Closeable> open;
        synchronized (this) {
            ending = true;
            open = List.copyOf(sockets);
            notifyAll();
        }
        for (Closeable socket : open) {
            try {
                socket.close();
            } catch (IOException e) {
                // it is of no more use
            }
        }
    }
}
