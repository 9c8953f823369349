// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.fence;

import io.penstock.engine.spi.ffi.TimerSlack;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One thread that polls those fences of a backend that are waited for. It runs while there is such a fence, and
 * for a while after, asleep: an idle backend makes no call.
 *
 * <p>Thread-safe.
 */
public final class EventWatch {

    /** How often all fences are looked at before the thread sleeps between looks. */
    static final int SPINS = 64;

    static final long FIRST_NAP_NANOS = 10_000;
    static final int DOUBLINGS = 3; // to 80 us
    static final long IDLE_NANOS = 2_000_000_000L;

    private final Function<Runnable, Thread> threads;
    private final LongConsumer sleep;
    private final ConcurrentLinkedQueue<Watched> arrivals = new ConcurrentLinkedQueue<>();
    private @Nullable Thread thread; // guarded by this

    // The thread's; the next one finds them as the last has left them, since each comes and goes under the lock.
    private final List<Watched> watched = new ArrayList<>();
    private long spinUntil; // on System.nanoTime()'s clock

    /** Makes one, without a thread yet. */
    public EventWatch(String threadName) {
        this(work -> daemon(threadName, work), LockSupport::parkNanos);
    }

    /**
     * Makes one.
     *
     * @param sleep for so many nanoseconds at most; {@link LockSupport#unpark} ends it
     */
    EventWatch(Function<Runnable, Thread> threads, LongConsumer sleep) {
        this.threads = threads;
        this.sleep = sleep;
    }

    private static Thread daemon(String name, Runnable work) {
        Runnable exact = () -> {
            TimerSlack.minimize();
            work.run();
        };
        Thread thread = new Thread(null, exact, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // keeps no application's classes alive
        return thread;
    }

    /**
     * Has {@link Watched#look} called until the device has passed it. What that throws goes to the thread's handler of
     * uncaught exceptions, and the fence is looked at no more. Makes no native call.
     */
    public synchronized void watch(Watched fence) {
        arrivals.add(fence);
        Thread watcher = thread;
        if (watcher == null) {
            watcher = threads.apply(this::run);
            thread = watcher;
            watcher.start();
        } else {
            LockSupport.unpark(watcher);
        }
    }

    private void run() {
        int looks = 0; // since any was passed
        while (true) {
            takeArrivals();
            if (watched.isEmpty()) {
                sleep.accept(IDLE_NANOS);
                if (isOver()) {
                    return;
                }
                looks = 0;
            } else if (look()) {
                looks = 0;
            } else {
                looks = Math.min(looks + 1, SPINS + 1 + DOUBLINGS); // and no more, or it would begin again some day
                rest(looks);
            }
        }
    }

    private void takeArrivals() {
        for (Watched fence = arrivals.poll(); fence != null; fence = arrivals.poll()) {
            watched.add(fence);
            long until = System.nanoTime() + fence.spinNanos();
            spinUntil = watched.size() == 1 || until - spinUntil > 0 ? until : spinUntil;
        }
    }

    /** Ends the thread if no fence has arrived; a later one starts another thread. */
    private synchronized boolean isOver() {
        if (arrivals.isEmpty()) {
            thread = null;
            return true;
        }
        return false;
    }

    private boolean look() {
        boolean any = false;
        for (int i = watched.size() - 1; i >= 0; i--) {
            if (hasPassed(watched.get(i))) {
                watched.remove(i);
                any = true;
            }
        }
        return any;
    }

    private static boolean hasPassed(Watched fence) {
        try {
            return fence.look();
        } catch (RuntimeException | Error e) {
            Thread here = Thread.currentThread();
            here.getUncaughtExceptionHandler().uncaughtException(here, e);
            return true;
        }
    }

    private void rest(int looks) {
        if (looks <= SPINS || spinUntil - System.nanoTime() > 0) {
            Thread.onSpinWait();
        } else {
            sleep.accept(FIRST_NAP_NANOS << (looks - SPINS - 1));
        }
    }
}
