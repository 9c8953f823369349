// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

/**
 * A range of a file that one segment writes, locked in the file's {@link BlockLocks}; reusable after it was unlocked.
 *
 * <p>Ranges are bytes: the cover for a read-modify-write, otherwise the bytes written. Two handles may use different
 * block sizes; a conflict is a write to bytes that a cover writes back.
 */
public final class BlockClaim {

    final Runnable granted;
    boolean exclusive;
    private long offset;
    private long bytes;

    // The rest is guarded by the lock of BlockLocks; light belongs to the owner, between lock() and unlock().
    boolean light;
    boolean listed;
    long ticket;
    int blockers; // earlier conflicting claims, plus one while light writes drain
    boolean drains;
    boolean lost; // a write under it may still happen, at any time
    boolean refused; // a write to the same bytes is lost; visible to the owner by the callback

    /** Creates a claim; the callback is called when a claim that had to wait is granted or refused. */
    public BlockClaim(Runnable granted) {
        this.granted = granted;
    }

    /** Sets a shared claim: for a write without a merge. */
    public BlockClaim shared(long offset, long bytes) {
        return set(false, offset, bytes);
    }

    /** Sets an exclusive claim: for a read-modify-write of a cover. */
    public BlockClaim exclusive(long offset, long bytes) {
        return set(true, offset, bytes);
    }

    private BlockClaim set(boolean exclusive, long offset, long bytes) {
        if (listed || light) {
            throw new IllegalStateException("changed while locked");
        }
        this.exclusive = exclusive;
        this.offset = offset;
        this.bytes = bytes;
        this.refused = false;
        return this;
    }

    /** Returns true if it was not granted, and will not be; for its owner, after a lock or the callback. */
    public boolean isRefused() {
        return refused;
    }

    boolean conflicts(BlockClaim other) {
        // Differences, since a cover at the end of the longest possible file ends beyond Long.MAX_VALUE.
        return (exclusive || other.exclusive) && offset - other.offset < other.bytes && other.offset - offset < bytes;
    }
}
