// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends the wait of one thread. Neither side makes a native call, nor wakes twice, unless the thread waits. The thread
 * chooses how it waits: in the kernel, on a condition, or parked as {@link #await} does.
 *
 * <p>There are two ways to wake. {@link #wake} is kept if the thread does not wait, and prevents its next wait.
 * {@link #rouse} is not kept, and costs one read while the thread works: the thread must check for such work once it
 * has announced its wait, by {@link #checkFor} or, after {@link #announce}, by itself.
 *
 * <h2>Memory ordering</h2>
 *
 * <p>One word holds the state of the thread: WORKING, WAITING or WOKEN. A waker publishes its work, and then reads the
 * word. The thread changes the word, and then checks for work. The publication must be a synchronization action or
 * contain one: a write of a volatile variable, an atomic update, an unlock, an addition to a concurrent collection
 * (JCTools' collections contain a compare-and-set). All synchronization actions, and so these, have one order,
 * which agrees with the order in each thread. So if the waker's read comes before the change, the publication does too,
 * and the check sees the work; if not, the waker sees the change:
 *
 * <ul>
 * <li>to WAITING: exactly one waker changes it to WOKEN, and that waker ends the wait;
 * <li>to WORKING: {@code wake} leaves WOKEN behind, which {@link #begin} and {@link #poll} take, by a change to WORKING
 *       followed by a check. {@code rouse} leaves nothing: each wait of a thread that is roused begins with a change to
 *       WAITING and a check.
 * </ul>
 *
 * <p>A waker that reads WOKEN does nothing: the thread has yet to change the word, and checks after that. The thread
 * ends a wait by a read-modify-write, so that it sees what was published before the wake, plainly or not.
 *
 * <p><b>Threading:</b> {@link #wake} and {@link #rouse} on any thread; all other methods on the waiting thread.
 */
public final class Wakeup {

    private static final int WORKING = 0;
    private static final int WAITING = 1;
    private static final int WOKEN = 2;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Wakeup.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Runnable end;
    private BooleanSupplier work = () -> false;

    @SuppressWarnings("unused") // through STATE
    private volatile int state;

    // Written before the change to WAITING, and read by the waker that found WAITING.
    private @Nullable Thread parked;

    /** Creates the wakeup of a thread that waits by {@link #await}. */
    public Wakeup() {
        this.end = () -> LockSupport.unpark(parked);
    }

    /**
     * Creates the wakeup of a thread that waits by its own means, between {@link #begin} and {@link #end}.
     *
     * @param end ends its wait; called by the waker, at most once for each wait, possibly after the thread has ended
     *     its wait by itself
     */
    public Wakeup(Runnable end) {
        this.end = end;
    }

    // Any thread.

    /** Ends a wait, or prevents the next one; the thread then sees what was published before. */
    public void wake() {
        if ((int) STATE.getVolatile(this) != WOKEN && (int) STATE.getAndSet(this, WOKEN) == WAITING) {
            end.run();
        }
    }

    /** Ends a wait that was announced; returns false if there is none, or another thread has ended it. */
    public boolean rouse() {
        if ((int) STATE.getVolatile(this) == WAITING && STATE.compareAndSet(this, WAITING, WOKEN)) {
            end.run();
            return true;
        }
        return false;
    }

    // The thread that waits.

    /** Sets the check for work that follows the announcement of a wait, for a thread that is roused. */
    public void checkFor(BooleanSupplier work) {
        this.work = work;
    }

    /**
     * Announces a wait, unless one is announced or a wake is kept; returns whether it did. The caller then checks for
     * work.
     */
    public boolean announce() {
        return STATE.compareAndSet(this, WORKING, WAITING);
    }

    /**
     * Announces a wait. Returns false if the thread must not wait but check for work; if true, {@link #end} must
     * follow.
     */
    public boolean begin() {
        if (!announce() || work.getAsBoolean()) {
            STATE.getAndSet(this, WORKING); // takes a wake; one in between is not lost: the thread checks now
            return false;
        }
        return true;
    }

    /** Ends a wait, for whatever reason; returns whether it was woken. */
    public boolean end() {
        return (int) STATE.getAndSet(this, WORKING) == WOKEN;
    }

    /** Returns whether a wait is announced and was not woken since. */
    public boolean isWaiting() {
        return (int) STATE.getVolatile(this) == WAITING;
    }

    /** Takes a wake that was kept; returns whether there was one, or there is work. Does not wait. */
    public boolean poll() {
        if ((int) STATE.getVolatile(this) == WOKEN) {
            STATE.getAndSet(this, WORKING);
            return true;
        }
        return work.getAsBoolean();
    }

    /**
     * Parks until woken or until the time is over, if {@link #begin} permits. An interruption does not end the wait,
     * and stays pending.
     *
     * @param nanos how long to wait; negative for no limit
     */
    public void await(long nanos) {
        parked = Thread.currentThread();
        if (begin()) {
            park(nanos);
            end();
        }
    }

    private void park(long nanos) {
        long start = nanos < 0 ? 0 : System.nanoTime();
        long left = nanos;
        boolean interrupted = false;
        while (isWaiting() && (nanos < 0 || left > 0)) {
            if (nanos < 0) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, left);
                left = nanos - (System.nanoTime() - start);
            }
            interrupted |= Thread.interrupted(); // which would keep it from parking
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
