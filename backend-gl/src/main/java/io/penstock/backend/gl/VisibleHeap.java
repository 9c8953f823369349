// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

/**
 * Counts the local visible memory that this process has taken: the card has some 100 MB of it for applications (the
 * manual, chapter 7), and what is taken beyond fails, also for the application's own buffers.
 *
 * <p>Thread-safe.
 */
final class VisibleHeap {

    /** The only one: the card's is one too. */
    static final VisibleHeap PROCESS = new VisibleHeap();

    private long used;

    private VisibleHeap() {}

    /** Takes bytes, unless more than {@code most} would be in use then. */
    synchronized boolean take(long bytes, long most) {
        if (bytes > most - used) {
            return false;
        }
        used += bytes;
        return true;
    }

    /** Takes back what was taken. */
    synchronized void give(long bytes) {
        used -= bytes;
    }

    /** Returns how many bytes are in use. */
    synchronized long used() {
        return used;
    }
}
