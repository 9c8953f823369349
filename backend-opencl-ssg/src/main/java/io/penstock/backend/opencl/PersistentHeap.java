// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

/**
 * Counts the persistent memory of this process. The driver has 128 MB of it for all applications together, and hands out
 * ordinary memory instead when that is gone, without a word: so it must not be gone.
 *
 * <p>Thread-safe.
 */
final class PersistentHeap {

    /** The only one: the driver's heap is one too. */
    static final PersistentHeap PROCESS = new PersistentHeap();

    private long used;

    PersistentHeap() {}

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
