// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

/**
 * Counts the memory of this process that the disk reaches. A driver has little of it, for all applications together,
 * and may silently return ordinary memory when it is used up.
 *
 * <p>Thread-safe.
 */
public final class SsgHeap {

    private long used;

    /** Creates a counter with nothing in use. */
    public SsgHeap() {}

    /** Reserves bytes, unless more than {@code most} would be in use. */
    public synchronized boolean take(long bytes, long most) {
        if (bytes > most - used) {
            return false;
        }
        used += bytes;
        return true;
    }

    /** Returns reserved bytes. */
    public synchronized void give(long bytes) {
        used -= bytes;
    }

    /** Returns how many bytes are in use. */
    public synchronized long used() {
        return used;
    }
}
