// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.fence;

import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.ffi.TimerSlack;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A thread that polls the fences of a backend that are waited for. It runs while there is such a fence, and sleeps for
 * a while after: an idle backend makes no call.
 *
 * <p>Thread-safe.
 */
public final class EventWatch {

    /** How often all fences are polled before the thread sleeps between polls. */
    static final int SPINS = 64;

    static final long FIRST_NAP_NANOS = 10_000;
    static final long LONGEST_NAP_NANOS = 80_000;
    static final long IDLE_NANOS = 2_000_000_000L;

    private final Function<Runnable, Thread> threads;
    private final LongConsumer sleep;
    private final ConcurrentLinkedQueue<Watched> arrivals = new ConcurrentLinkedQueue<>();
    private @Nullable Thread thread; // guarded by this

    // Owned by the thread; the next thread sees them as the last has left them, since threads start and end under the
    // lock.
    private final PolledFences watched = new PolledFences();
    private final Pause pause = new Pause().spins(SPINS).naps(FIRST_NAP_NANOS, LONGEST_NAP_NANOS);
    private long spinUntil; // on System.nanoTime()'s clock

    /** Creates a watch, without starting the thread. */
    public EventWatch(String threadName) {
        this(work -> daemon(threadName, work), LockSupport::parkNanos);
    }

    /**
     * Creates a watch.
     *
     * @param sleep sleeps for at most so many nanoseconds; {@link LockSupport#unpark} ends the sleep
     */
    EventWatch(Function<Runnable, Thread> threads, LongConsumer sleep) {
        this.threads = threads;
        this.sleep = sleep;
    }

    private static Thread daemon(String name, Runnable work) {
        return new DaemonThread(name, () -> {
            TimerSlack.minimize();
            work.run();
        });
    }

    /**
     * Polls {@link Watched#poll} until the fence is signalled. An exception goes to the thread's handler of uncaught
     * exceptions, and the fence is polled no more. Makes no native call.
     *
     * @throws OutOfMemoryError if the system permits no thread: the fence is not polled, but a later one may be
     */
    public synchronized void watch(Watched fence) {
        arrivals.add(fence);
        Thread watcher = thread;
        if (watcher == null) {
            start();
        } else {
            LockSupport.unpark(watcher);
        }
    }

    private void start() {
        Thread watcher = threads.apply(this::run);
        try {
            watcher.start();
        } catch (OutOfMemoryError e) {
            arrivals.clear(); // without a thread there was none before
            throw e;
        }
        thread = watcher;
    }

    private void run() {
        pause.reset();
        while (true) {
            takeArrivals();
            if (watched.size() == 0) {
                sleep.accept(IDLE_NANOS);
                if (isOver()) {
                    return;
                }
                pause.reset();
            } else if (watched.poll()) {
                pause.reset();
            } else {
                pause();
            }
        }
    }

    private void takeArrivals() {
        for (Watched fence = arrivals.poll(); fence != null; fence = arrivals.poll()) {
            watched.add(fence);
            long until = System.nanoTime() + fence.spinNanos();
            spinUntil = watched.size() == 1 || until - spinUntil > 0 ? until : spinUntil;
            pause.spinUntil(spinUntil);
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

    private void pause() {
        long nap = pause.next();
        if (nap > 0) {
            sleep.accept(nap);
        }
    }
}
