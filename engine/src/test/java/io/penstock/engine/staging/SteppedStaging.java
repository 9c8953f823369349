// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Options;
import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A queue through staging buffers whose staging workers, executor and waits are a simulation's. */
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
    private final StagingWorkers pool;
    private long steps; // of staging workers and executor
    private long enqueued;
    private final Wakeup wakeup = new Wakeup(() -> {});
    private boolean roused;

    /** Opens one with so many staging workers. */
    public SteppedStaging(StagingDevice device, HostBytes host, Options options, int workers, Stage stage) {
        this.stage = stage;
        pool = StagingWorkers.stepped(workers);
        ExecutorPump pump = device.threads() == ThreadRule.MANY ? null : new ExecutorPump(() -> roused = true);
        queue = new StagedQueue(device, host, options, pool, pump, null);
        for (int i = 0; i < workers; i++) {
            StagingWorker worker = new StagingWorker(pool, 0);
            stage.start(() -> fill(worker));
        }
        if (pump != null) {
            stage.start(() -> execute(pump));
        }
    }

    private void fill(StagingWorker worker) {
        while (!pool.isStopped()) {
            long ended = stage.copiesEnded();
            if (worker.turn(false)) {
                steps++;
            } else {
                int ready = queue.ready.size(); // not 0 if the staging worker has as many copies as it may
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

    /** Wraps a file as a path that stages does. */
    public static NativeFile wrap(NativeFile host, HostBytes bytes, Options options, boolean writable) {
        return new StagedFile(host, bytes, options, writable);
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
        if (!poll() && waitNanos != 0 && wakeup.begin()) {
            stage.await(() -> !wakeup.isWaiting() || steps != seen, waitNanos);
            wakeup.end();
            poll();
        }
    }

    private boolean poll() {
        long before = ended();
        queue.turn(0);
        return ended() != before;
    }

    /** Returns how many requests have ended: for one that has, the I/O queue may enqueue another in the same turn. */
    private long ended() {
        return enqueued - queue.inFlight();
    }

    @Override
    public Wakeup wakeup() {
        return wakeup;
    }

    @Override
    public void close() {
        queue.close();
    }
}
