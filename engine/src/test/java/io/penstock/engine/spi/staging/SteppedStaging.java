// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.host.HostBytes;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A queue through slots whose fillers, executor and waits are a simulation's. */
public final class SteppedStaging implements NativeQueue {

    /** What a simulation does instead of the system. */
    public interface Stage {

        /** Runs the body of a thread. */
        void start(Runnable body);

        /** Waits, as the thread that runs now, until something is so, or for so long; for ever if negative. */
        void await(BooleanSupplier something, long nanos);

        /** Returns a number that changes with every copy that ends. */
        long copiesEnded();
    }

    private final Stage stage;
    private final StagedQueue queue;
    private final FillerPool pool;
    private long steps; // of fillers and executor
    private long enqueued;
    private boolean woken;
    private boolean roused;

    /** Opens one with so many fillers. */
    public SteppedStaging(StagingDevice device, HostBytes host, SlotSizes sizes, int fillers, Stage stage) {
        this.stage = stage;
        pool = FillerPool.stepped(fillers);
        ExecutorPump pump = device.threads() == ThreadRule.MANY ? null : new ExecutorPump(() -> roused = true);
        queue = new StagedQueue(device, host, sizes, pool, pump, null);
        for (int i = 0; i < fillers; i++) {
            Filler filler = new Filler(pool);
            stage.start(() -> fill(filler));
        }
        if (pump != null) {
            stage.start(() -> execute(pump));
        }
    }

    private void fill(Filler filler) {
        while (!pool.isStopped()) {
            long ended = stage.copiesEnded();
            if (filler.turn(false)) {
                steps++;
            } else {
                int ready = queue.ready.size(); // not 0 if the filler has as many copies as it may
                stage.await(() -> pool.isStopped() || queue.ready.size() != ready || stage.copiesEnded() != ended, -1);
            }
        }
    }

    private void execute(@Nullable ExecutorPump pump) {
        while (pump != null && !pool.isStopped()) {
            long ended = stage.copiesEnded();
            roused = false;
            boolean more = pump.run(0);
            steps++;
            // A pump that is at rest signals new work; one with copies under way is polled.
            stage.await(() -> pool.isStopped() || roused || stage.copiesEnded() != ended, more ? 500 : -1);
        }
    }

    /** Wraps a file as a route that stages does. */
    public static NativeFile wrap(NativeFile host, HostBytes bytes, SlotSizes sizes, boolean writable) {
        return new StagedFile(host, bytes, sizes, writable);
    }

    @Override
    public int depth() {
        return queue.depth();
    }

    @Override
    public void enqueue(Request request) {
        enqueued++;
        queue.enqueue(request);
    }

    @Override
    public void cancel(Request request) {
        queue.cancel(request);
    }

    @Override
    public void turn(long waitNanos) {
        long seen = steps;
        if (!look() && waitNanos != 0) {
            stage.await(() -> woken || steps != seen, waitNanos);
            look();
        }
    }

    private boolean look() {
        woken = false;
        long before = ended();
        queue.turn(0);
        return ended() != before;
    }

    /** Returns how many requests have ended: for one that has, the lane may enqueue another in the same turn. */
    private long ended() {
        return enqueued - queue.inFlight();
    }

    @Override
    public void wake() {
        woken = true;
        queue.wake();
    }

    @Override
    public void close() {
        queue.close();
    }
}
