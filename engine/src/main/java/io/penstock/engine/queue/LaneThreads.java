// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.Shared;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of a route, a thread for each, shared by all backends of the process whose routes say that they share.
 *
 * <p>They stop when the last backend that uses them is closed; while any run, an exit hook has the end of the
 * process wait for what is in flight, for at most a second. It stops nothing: hooks run side by side, and another's may
 * still be sending responses from files.
 */
public final class LaneThreads implements Lanes {

    private static final Shared<Key, LaneThreads> SHARED = new Shared<>(unused -> {}); // release() stops them
    private static final long EXIT_MILLIS = 1000;
    // So many in a row go to one lane (2^4), which gets them as one batch; then the next has its turn, so that a single
    // subscriber keeps all lanes busy.
    private static final int RUN_BITS = 4;

    /** Backends with equal ones use the same lanes; one with other options must not get another's. */
    private record Key(Object sharing, long laneBytes) {}

    private final List<LaneThread> threads = new ArrayList<>();
    private int picks;
    private @Nullable Thread exitHook;

    private LaneThreads() {}

    /** Takes part in the lanes of {@code route}, starting them if there are none. */
    public static Lanes acquire(Route route, Options options) {
        Key key = new Key(route.sharing(), options.get(CommonOptions.LANE_BYTES));
        return SHARED.open(key, () -> start(route, key.laneBytes));
    }

    private static LaneThreads start(Route route, long laneBytes) {
        LaneThreads lanes = new LaneThreads();
        lanes.start(route, LaneLimits.ofBytes(laneBytes));
        return lanes;
    }

    private void start(Route route, LaneLimits limits) {
        try {
            for (int i = 0; i < route.lanes(); i++) {
                Lane lane = new Lane(route.openQueue(), limits, System::nanoTime);
                threads.add(new LaneThread(lane, this, "penstock-lane-" + route.path() + "-" + i));
            }
        } catch (RuntimeException e) {
            threads.forEach(thread -> thread.lane().close()); // none has been started
            throw e;
        }
        threads.forEach(Thread::start);
        Thread hook = new Thread(null, this::waitAtExit, "penstock-exit", 0, false);
        hook.setContextClassLoader(null);
        exitHook = hook;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Leaves the lanes; the last one out stops them. */
    @Override
    public CompletableFuture<Void> release() {
        return SHARED.leave(this) ? stop() : CompletableFuture.completedFuture(null);
    }

    private CompletableFuture<Void> stop() {
        removeExitHook();
        return CompletableFuture.allOf(
                threads.stream().map(LaneThread::stopWhenIdle).toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<Void> idle() {
        return CompletableFuture.allOf(
                threads.stream().map(LaneThread::whenIdle).toArray(CompletableFuture[]::new));
    }

    private void removeExitHook() {
        Thread hook = exitHook;
        if (hook != null) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                exitHook = null; // the process ends already, and the hook is running
            }
        }
    }

    private void waitAtExit() {
        try {
            idle().get(EXIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return; // the process ends all the same, and the system takes everything back
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the next lane; on a lane's own thread that lane, so that a chain of transfers never hops. */
    @Override
    public Lane pick() {
        Thread current = Thread.currentThread();
        if (current instanceof LaneThread thread && thread.group() == this) {
            return thread.lane();
        }
        int turn = picks;
        picks = turn
                + 1; // two threads may count as one: a lane gets a few more then, and no thread waits for a counter
        return threads.get((turn >>> RUN_BITS) % threads.size()).lane();
    }

    @Override
    public List<Lane> all() {
        return threads.stream().map(LaneThread::lane).toList();
    }
}
