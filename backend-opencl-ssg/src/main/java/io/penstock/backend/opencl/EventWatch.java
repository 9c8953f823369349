// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.engine.ffi.Naps;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The one thread of the process that looks at events of the application's which somebody waits for, and none of
 * {@link EventWaiters} does. It is there while there is such an event, and for a while after, asleep: an idle backend makes
 * no call.
 *
 * <p>A callback of the driver's would tell too, but never on PoCL where the command fails, and would keep one of the
 * driver's threads in this JVM for good.
 */
final class EventWatch implements Runnable {

    /** How often all events are looked at before the thread sleeps between looks. */
    private static final int SPINS = 64;

    private static final long FIRST_NAP_NANOS = 5_000;
    private static final long LONGEST_NAP_NANOS = 80_000;
    private static final long IDLE_NANOS = 2_000_000_000L;

    private static final ConcurrentLinkedQueue<ClFence> ARRIVALS = new ConcurrentLinkedQueue<>();
    private static final Object LIFE = new Object();
    private static @Nullable Thread thread; // guarded by LIFE

    private final List<ClFence> watched = new ArrayList<>();

    private EventWatch() {}

    /** Has {@link ClFence#passed} called once the device has passed it. Any thread; makes no native call. */
    static void watch(ClFence fence) {
        synchronized (LIFE) {
            ARRIVALS.add(fence);
            Thread watcher = thread;
            if (watcher == null) {
                watcher = new Thread(null, new EventWatch(), "penstock-opencl-events", 0, false);
                watcher.setDaemon(true);
                watcher.setContextClassLoader(null); // keeps nobody's classes alive
                thread = watcher;
                watcher.start();
            } else {
                LockSupport.unpark(watcher);
            }
        }
    }

    @Override
    public void run() {
        Naps.beExact();
        int looks = 0;
        while (true) {
            takeArrivals();
            if (watched.isEmpty()) {
                LockSupport.parkNanos(this, IDLE_NANOS);
                if (isOver()) {
                    return;
                }
                looks = 0;
            } else if (look()) {
                looks = 0;
            } else if (++looks <= SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, Math.min(LONGEST_NAP_NANOS, FIRST_NAP_NANOS << Math.min(looks - SPINS, 8)));
            }
        }
    }

    private void takeArrivals() {
        for (ClFence fence = ARRIVALS.poll(); fence != null; fence = ARRIVALS.poll()) {
            watched.add(fence);
        }
    }

    /** Ends the thread if nobody has come; whoever comes later starts another. */
    private static boolean isOver() {
        synchronized (LIFE) {
            if (ARRIVALS.isEmpty()) {
                thread = null;
                return true;
            }
            return false;
        }
    }

    private boolean look() {
        boolean any = false;
        for (int i = watched.size() - 1; i >= 0; i--) {
            ClFence fence = watched.get(i);
            if (fence.isSignalled()) {
                watched.remove(i);
                fence.passed();
                any = true;
            }
        }
        return any;
    }
}
