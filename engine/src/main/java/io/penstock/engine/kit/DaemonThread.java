// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import java.util.concurrent.TimeUnit;

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
     * Starts it, if the system permits another thread; returns whether it did. For a thread that helps others, which do
     * its work without it.
     */
    public boolean tryStart() {
        try {
            start();
            return true;
        } catch (OutOfMemoryError e) { // "unable to create native thread"
            return false;
        }
    }

    /**
     * Waits for its end, at most {@code millis}; returns whether it has ended. An interrupt of the caller does not
     * shorten the wait, since what the thread uses is freed after it, and is kept.
     */
    public boolean awaitEnd(long millis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        boolean interrupted = false;
        for (long left = millis; left > 0 && isAlive(); left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())) {
            try {
                join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !isAlive();
    }

    /** Waits for its end, as {@link #awaitEnd(long)}, however long it takes. */
    public void awaitEnd() {
        awaitEnd(Long.MAX_VALUE);
    }
}
