// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import java.util.function.Consumer;

/**
 * A range of a file that one segment writes, locked in the file's {@link BlockLocks}; reusable after it was unlocked.
 *
 * <p>Ranges are bytes: the cover for a read-modify-write, otherwise the bytes written. Two handles may use different
 * block sizes; a conflict is a write to bytes that a cover writes back.
 */
public final class BlockClaim {

    /** What {@link BlockLocks} has made of a claim that is not light. */
    enum State {
        FREE,
        /** Granted or waiting. */
        LISTED,
        /** Granted for ever: a write under it may still happen, at any time. */
        LOST,
        /** Neither granted nor waiting: a write to the same bytes is lost. */
        REFUSED
    }

    private final Consumer<BlockClaim> granted;
    boolean exclusive;
    private long offset;
    private long bytes;

    boolean light; // granted, and counted instead of listed; the owner's, between lock() and unlock()

    // The rest is guarded by the lock of BlockLocks. REFUSED is visible to the owner by the callback.
    State state = State.FREE;
    long ticket;
    int blockers; // earlier conflicting claims, plus one while light writes drain
    boolean drains;

    /** Creates a claim; the callback is called with it when it had to wait and is granted or refused. */
    public BlockClaim(Consumer<BlockClaim> granted) {
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
        if (light || state == State.LISTED || state == State.LOST) {
            throw new IllegalStateException("changed while locked");
        }
        this.exclusive = exclusive;
        this.offset = offset;
        this.bytes = bytes;
        if (state == State.REFUSED) {
            this.state = State.FREE;
        }
        return this;
    }

    /** Returns true if it was not granted, and will not be; for its owner, after a lock or the callback. */
    public boolean isRefused() {
        return state == State.REFUSED;
    }

    void callBack() {
        granted.accept(this);
    }

    boolean conflicts(BlockClaim other) {
        // Differences, since a cover at the end of the longest possible file ends beyond Long.MAX_VALUE.
        return (exclusive || other.exclusive) && offset - other.offset < other.bytes && other.offset - offset < bytes;
    }
}
