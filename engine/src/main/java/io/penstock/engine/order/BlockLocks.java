// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import io.penstock.engine.order.BlockClaim.State;
import io.penstock.engine.spi.Shared;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Locks a block that is being read, merged and written against every other write to it (rule 206), across the handles
 * and backends of the process. One per file identity (device and inode).
 *
 * <p>Conflicting claims are granted first come, first served: a claim waits for every earlier one, granted or waiting,
 * that overlaps it unless both are shared. Hence no claim starves; and since a segment makes one claim only, no segment
 * holds a claim while it waits for another.
 *
 * <p><b>Threading:</b> thread-safe; no method blocks. A claim's callback runs on the thread that released the
 * conflicting claim, outside the lock; it should only post.
 */
public final class BlockLocks {

    private static final Shared<Object, BlockLocks> OPEN = new Shared<>(unused -> {});

    // state = 2 * light + needed. Until the first exclusive claim on this file, shared claims are light: counted,
    // without a range. The first exclusive claim sets the bit permanently, and waits until the light ones are released.
    private static final long NEEDED = 1;
    private static final long LIGHT = 2;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(BlockLocks.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile long state;

    private final Set<BlockClaim> exclusives = new LinkedHashSet<>(); // granted and waiting
    private final Set<BlockClaim> shareds = new LinkedHashSet<>(); // granted and waiting
    private final Set<BlockClaim> waiting = new LinkedHashSet<>(); // in the order of their tickets
    private long tickets;
    private boolean drained;
    private boolean hasLost;

    private BlockLocks() {}

    /** Returns the locks of a file, to be closed once per call; equal identities share them. */
    public static BlockLocks open(Object file) {
        return OPEN.open(file, BlockLocks::new);
    }

    /** Ends one use, after all claims of its user are released; the last one removes the file. */
    public void close() {
        OPEN.leave(this);
    }

    /** Returns the number of open files; for tests that detect leaks. */
    public static int files() {
        return OPEN.size();
    }

    /** Returns true if there ever was an exclusive claim; until then, shared claims cost one atomic addition. */
    boolean isNeeded() {
        return (state & NEEDED) != 0;
    }

    /**
     * Returns true if the claim is granted or {@linkplain BlockClaim#isRefused refused} now; otherwise its callback is
     * called when it is.
     */
    public boolean lock(BlockClaim claim) {
        if (!claim.exclusive && enterLight()) {
            claim.light = true;
            return true;
        }
        synchronized (this) {
            if (hasLost && conflictsWithLost(claim)) {
                claim.state = State.REFUSED;
                return true;
            }
            claim.state = State.LISTED;
            claim.ticket = tickets++;
            claim.blockers =
                    claim.exclusive ? count(exclusives, claim) + count(shareds, claim) : count(exclusives, claim);
            claim.drains = claim.exclusive && !isDrained();
            if (claim.drains) {
                claim.blockers++;
            }
            (claim.exclusive ? exclusives : shareds).add(claim);
            if (claim.blockers > 0) {
                waiting.add(claim);
            }
            return claim.blockers == 0;
        }
    }

    /**
     * Releases a claim, or stops waiting for it; a second call does nothing. The callback of a claim that is abandoned
     * while another thread grants it may still be called.
     */
    public void unlock(BlockClaim claim) {
        if (claim.light) {
            claim.light = false;
            leaveLight();
        } else {
            remove(claim, State.FREE);
        }
    }

    private void remove(BlockClaim claim, State then) {
        List<BlockClaim> granted = new ArrayList<>(0);
        synchronized (this) {
            if (claim.state != State.LISTED && claim.state != State.LOST) {
                return;
            }
            claim.state = then;
            (claim.exclusive ? exclusives : shareds).remove(claim);
            waiting.remove(claim);
            for (BlockClaim other : waiting) {
                if (other.ticket > claim.ticket && other.conflicts(claim) && --other.blockers == 0) {
                    granted.add(other);
                }
            }
            granted.forEach(waiting::remove);
        }
        granted.forEach(BlockClaim::callBack);
    }

    /**
     * Keeps a granted claim for ever: a write under it is lost and may still happen. Claims that wait for it are
     * refused, and so are all later ones.
     */
    public void lose(BlockClaim claim) {
        boolean light = claim.light;
        List<BlockClaim> refused = new ArrayList<>(0);
        synchronized (this) {
            claim.light = false;
            claim.state = State.LOST;
            hasLost = true;
            (claim.exclusive ? exclusives : shareds).add(claim);
            for (BlockClaim other : waiting) {
                if (other.conflicts(claim)) {
                    refused.add(other);
                }
            }
        }
        refused.forEach(other -> remove(other, State.REFUSED));
        if (light) {
            leaveLight(); // listed first: an exclusive claim that is granted now does not conflict with it
        }
        refused.forEach(BlockClaim::callBack);
    }

    private boolean conflictsWithLost(BlockClaim claim) {
        return Stream.concat(exclusives.stream(), shareds.stream())
                .anyMatch(other -> other.state == State.LOST && other.conflicts(claim));
    }

    private static int count(Set<BlockClaim> earlier, BlockClaim claim) {
        int conflicts = 0;
        for (BlockClaim other : earlier) {
            if (other.conflicts(claim)) {
                conflicts++;
            }
        }
        return conflicts;
    }

    private boolean enterLight() {
        if (isNeeded()) {
            return false;
        }
        long before = (long) STATE.getAndAdd(this, LIGHT);
        if ((before & NEEDED) == 0) {
            return true;
        }
        leaveLight(); // the bit was set in between: an exclusive claim may already wait for the count to reach 0
        return false;
    }

    private void leaveLight() {
        long left = (long) STATE.getAndAdd(this, -LIGHT) - LIGHT;
        // Pairs with isDrained(): with the bit set, either it saw a count of 0, or the thread that brings it to 0 sees
        // the bit here. An entry that is withdrawn can get here more than once; draining again is harmless.
        if (left == NEEDED) {
            drain();
        }
    }

    private boolean isDrained() {
        if (!drained) {
            drained = ((long) STATE.getAndBitwiseOr(this, NEEDED) & -LIGHT) == 0;
        }
        return drained;
    }

    private void drain() {
        List<BlockClaim> granted = new ArrayList<>(0);
        synchronized (this) {
            drained = true;
            for (BlockClaim claim : waiting) {
                if (claim.drains) {
                    claim.drains = false;
                    if (--claim.blockers == 0) {
                        granted.add(claim);
                    }
                }
            }
            granted.forEach(waiting::remove);
        }
        granted.forEach(BlockClaim::callBack);
    }
}
