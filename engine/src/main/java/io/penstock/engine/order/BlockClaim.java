// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

/**
 * A range of a file that one piece writes, to be locked in its {@link BlockLocks}; may be set and locked again after
 * it was unlocked.
 *
 * <p>Ranges are bytes: a cover for a read-modify-write, just what is written otherwise. Two handles may disagree about
 * the size of a block; what conflicts is whether a write touches bytes that a cover writes back.
 */
public final class BlockClaim {

    final Runnable granted;
    boolean exclusive;
    private long offset;
    private long bytes;

    // The rest is BlockLocks's, under its lock; light is the owner's, between lock() and unlock().
    boolean light;
    boolean listed;
    long ticket;
    int blockers; // earlier claims in conflict, and one more while light writes drain
    boolean drains;

    /** Makes one; the callback is called when a claim that had to wait is granted. */
    public BlockClaim(Runnable granted) {
        this.granted = granted;
    }

    /** Makes this a claim for a write that merges nothing. */
    public BlockClaim shared(long offset, long bytes) {
        return set(false, offset, bytes);
    }

    /** Makes this a claim for a read-modify-write of a cover. */
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
        return this;
    }

    boolean conflicts(BlockClaim other) {
        // Differences, since a cover at the end of the longest possible file ends beyond Long.MAX_VALUE.
        return (exclusive || other.exclusive) && offset - other.offset < other.bytes && other.offset - offset < bytes;
    }
}
