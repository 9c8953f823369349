// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

/**
 * A thread of a backend. It does not keep the process alive, and keeps no application's classes alive: it has no
 * context class loader, and inherits no thread locals.
 */
public final class DaemonThread extends Thread {

    /** Creates it, without starting it. */
    public DaemonThread(String name, Runnable body) {
        super(null, body, name, 0, false);
        setDaemon(true);
        setContextClassLoader(null);
    }

    /**
     * Starts it, if the system permits another thread; returns whether it did. For a thread that helps others, which do its
     * work without it.
     */
    public boolean tryStart() {
        try {
            start();
            return true;
        } catch (OutOfMemoryError e) { // "unable to create native thread"
            return false;
        }
    }
}
