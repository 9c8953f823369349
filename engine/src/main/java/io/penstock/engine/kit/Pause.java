// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread's backoff between polls: it spins, then yields, then naps, longer each time, so that a fast completion is
 * seen at once and a slow one costs little processor time.
 *
 * <pre>{@code
 * pause.reset();
 * while (!hasEnded()) {
 *     pause.idle();
 * }
 * }</pre>
 *
 * <p>Naps take microseconds: a thread that naps minimizes its timer slack first
 * ({@link io.penstock.engine.kit.ffi.TimerSlack}).
 *
 * <p><b>Threading:</b> one thread at a time. No method allocates.
 */
public final class Pause {

    /**
     * The most arrivals at a time, or requests in flight, for which a thread polls unless told otherwise. Where there
     * are more, events that come while it sleeps are a batch, which costs less than to handle each at once.
     */
    public static final int FEW = 4;

    // As the kernel's: kvm.halt_poll_ns is 200,000. A thread that polls must not take a processor that others wait for.
    private static final long DEFAULT_NANOS = 200_000;
    private static final int MANY_PROCESSORS = 8;

    private int spins;
    private int yields;
    private long firstNanos = 1;
    private long longestNanos = 1;

    private long gapNanos;
    private long gapsNanos;

    private int polls; // polls since reset(), unless timed
    private boolean timed; // whether spinUntil applies
    private long spinUntil; // on System.nanoTime()'s clock, as is the next
    private long gapsUntil;
    private long napNanos = 1; // the next

    /**
     * Returns for how long to poll, as an option specifies it: -1 for 200 us where the process has 8 processors or
     * more.
     */
    public static long pollNanos(int micros) {
        if (micros >= 0) {
            return 1000L * micros;
        }
        return Runtime.getRuntime().availableProcessors() < MANY_PROCESSORS ? 0 : DEFAULT_NANOS;
    }

    /** Creates a pause without spins or yields, with naps of one nanosecond. */
    public Pause() {}

    /** Creates the pause of a thread that polls a device for requests in flight: naps from 5 to 200 us. */
    public static Pause betweenPolls() {
        return new Pause().naps(5_000, 200_000);
    }

    /** Sets the number of polls without a pause. */
    public Pause spins(int spins) {
        this.spins = spins;
        return this;
    }

    /** Sets the number of polls with a yield of the processor in between. */
    public Pause yields(int yields) {
        this.yields = yields;
        return this;
    }

    /**
     * Sets a distance of {@code gapNanos} between polls after spinning, until {@code nanos} after {@link #spinFor}; the
     * thread does not sleep in between. For polls that take a contended lock.
     */
    public Pause gaps(long gapNanos, long nanos) {
        this.gapNanos = gapNanos;
        this.gapsNanos = nanos;
        return this;
    }

    /** Sets the first and the longest nap; each nap is twice as long as the nap before. */
    public Pause naps(long firstNanos, long longestNanos) {
        this.firstNanos = firstNanos;
        this.longestNanos = longestNanos;
        this.napNanos = firstNanos;
        return this;
    }

    /** Starts again from the first spin; to be called after progress. */
    public void reset() {
        polls = 0;
        napNanos = firstNanos;
    }

    /** Makes the thread spin for at least {@code nanos} from now. */
    public void spinFor(long nanos) {
        long now = System.nanoTime();
        spinUntil(now + nanos);
        gapsUntil = now + gapsNanos;
    }

    /** Makes the thread spin at least until {@code nanoTime}, on the clock of {@link System#nanoTime}. */
    public void spinUntil(long nanoTime) {
        spinUntil = nanoTime;
        gapsUntil = nanoTime;
        timed = true;
    }

    /** Returns whether {@link #next} was not called since {@link #reset}, or all pauses since were timed. */
    public boolean isNew() {
        return polls == 0;
    }

    /** Returns whether the next nap has the maximum length: there was no progress for long. */
    public boolean isLongest() {
        return napNanos == longestNanos;
    }

    /** Spins or yields once and returns 0, or returns the nanoseconds for which the caller must nap. */
    @SuppressWarnings("ThreadPriorityCheck") // a yield is a step between a spin and a nap
    public long next() {
        if (polls < spins) {
            polls++;
            Thread.onSpinWait();
            return 0;
        }
        if (timed) {
            long now = System.nanoTime();
            if (spinUntil - now > 0) {
                Thread.onSpinWait();
                return 0;
            }
            if (gapsUntil - now > 0) {
                spin(now + gapNanos);
                return 0;
            }
            timed = false;
        }
        if (polls < spins + yields) {
            polls++;
            Thread.yield();
            return 0;
        }
        long nap = napNanos;
        napNanos = Math.min(longestNanos, 2 * nap);
        return nap;
    }

    private static void spin(long until) {
        do {
            Thread.onSpinWait();
        } while (until - System.nanoTime() > 0);
    }

    /** As {@link #next}, with naps of at most {@code limitNanos}, which is negative for no limit. */
    public long next(long limitNanos) {
        long nap = next();
        return limitNanos < 0 ? nap : Math.min(nap, limitNanos);
    }

    /** Spins, yields or naps, once. */
    public void idle() {
        long nap = next();
        if (nap > 0) {
            LockSupport.parkNanos(this, nap);
        }
    }
}
