// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.ffi.Naps;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The one thread of the process that looks at events of the application's which somebody waits for. It is there while
 * there is such an event, and for a while after, asleep: an idle backend makes no call.
 *
 * <p>A host function in the stream would tell too, but delays the stream by some 20 microseconds, and lives on a thread
 * of the driver's.
 */
final class EventWatch implements Runnable {

    /** How often all events are looked at before the thread sleeps between looks. */
    private static final int SPINS = 64;

    private static final long FIRST_NAP_NANOS = 5_000;
    private static final long LONGEST_NAP_NANOS = 80_000;
    private static final long IDLE_NANOS = 2_000_000_000L;

    private static final ConcurrentLinkedQueue<CudaFence> ARRIVALS = new ConcurrentLinkedQueue<>();
    private static final Object LIFE = new Object();
    private static @Nullable Thread thread; // guarded by LIFE

    private final List<CudaFence> watched = new ArrayList<>();
    private long spinUntil; // on System.nanoTime()'s clock

    private EventWatch() {}

    /** Has {@link CudaFence#passed} called once the device has passed it. Any thread; makes no native call. */
    static void watch(CudaFence fence) {
        synchronized (LIFE) {
            ARRIVALS.add(fence);
            Thread watcher = thread;
            if (watcher == null) {
                watcher = new Thread(null, new EventWatch(), "penstock-cuda-events", 0, false);
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
            } else if (++looks <= SPINS || spinUntil - System.nanoTime() > 0) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(
                        this, Math.min(LONGEST_NAP_NANOS, FIRST_NAP_NANOS << Math.min(Math.max(looks - SPINS, 0), 8)));
            }
        }
    }

    private void takeArrivals() {
        for (CudaFence fence = ARRIVALS.poll(); fence != null; fence = ARRIVALS.poll()) {
            watched.add(fence);
            long until = System.nanoTime() + fence.spinNanos();
            spinUntil = watched.size() == 1 || until - spinUntil > 0 ? until : spinUntil;
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
            CudaFence fence = watched.get(i);
            int bound = Cuda.cuCtxSetCurrent(fence.context());
            int state = bound == CudaError.SUCCESS ? Cuda.cuEventQuery(fence.nativeHandle()) : bound;
            if (state != CudaError.NOT_READY) {
                watched.remove(i);
                fence.passed(state);
                any = true;
            }
        }
        return any;
    }
}
