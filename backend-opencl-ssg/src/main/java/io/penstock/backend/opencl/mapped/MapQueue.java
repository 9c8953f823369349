// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.mapped;

import io.penstock.NativeError;
import io.penstock.backend.opencl.cl.Flush;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between files and buffers that the processor can address while they are mapped: each request maps its
 * range, passes the I/O to a host queue, and unmaps the range; the request has completed when the unmap has.
 *
 * <p>The device is polled, at first without pause, then at growing intervals: a map on a device that shares the host's
 * memory moves no data and takes a few microseconds.
 *
 * <p><b>Cancellation:</b> a request that waits for its map ends when the map has completed; others end as the host
 * queue defines.
 */
final class MapQueue implements NativeQueue, MapTask.Owner {

    private static final NativeFailure CANCELLED =
            new NativeFailure(new NativeError("clEnqueueMapBuffer", 0, "CANCELLED"), NativeFailure.Kind.CANCELLED);

    /** How long the I/O queue polls the device without pause. */
    private static final long AWAKE_NANOS = 50_000;

    private final ClContext context;
    private final MapTurns turns;
    private final NativeQueue host;
    private final long queue;
    private final Function<Request, MapTask> newTask;
    private final ConcurrentLinkedQueue<MapTask> called = new ConcurrentLinkedQueue<>(); // their turn has come
    private final List<MapTask> moving = new ArrayList<>(); // being mapped or unmapped
    private final ArrayDeque<MapTask> ended = new ArrayDeque<>();
    private final Pause pause = Pause.betweenPolls(); // between polls of the device
    private boolean unflushed;
    private boolean moved; // whether anything progressed since the turn began

    /**
     * Creates a queue, which is a user of the context.
     *
     * @param host taken over
     */
    MapQueue(ClContext context, NativeQueue host) {
        this.context = context;
        this.turns = MapTurns.of(context);
        this.host = host;
        this.queue = context.createQueue(context.device().orderlessQueues());
        this.newTask = request -> new MapTask(request, this);
        context.join();
    }

    @Override
    public int depth() {
        return host.depth();
    }

    @Override
    public int parallelism() {
        return host.parallelism();
    }

    @Override
    public void enqueue(Request request) {
        MapTask task = task(request);
        task.begin();
        if (!task.maps()) {
            task.step = MapTask.Step.HOST;
            host.enqueue(task.host.as(request));
            return;
        }
        task.step = MapTask.Step.TURN;
        if (turns.enter(task)) {
            map(task);
        }
    }

    private MapTask task(Request request) {
        return request.attachment(MapTask.class, newTask);
    }

    @Override
    public void turnReached(MapTask task) {
        called.add(task);
        host.wakeup().wake();
    }

    private void map(MapTask task) {
        move(task, MapTask.Step.MAP, task.map(queue));
    }

    private void move(MapTask task, MapTask.Step step, int answer) {
        if (answer == OpenClError.SUCCESS) {
            task.step = step;
            unflushed = true;
            moving.add(task);
        } else {
            end(task, step.call.failure(answer));
        }
    }

    private void end(MapTask task, @Nullable NativeFailure failure) {
        turns.leave(task);
        ended(task, failure);
    }

    private void ended(MapTask task, @Nullable NativeFailure failure) {
        task.step = MapTask.Step.END;
        task.failure = failure;
        ended.add(task);
    }

    @Override
    public void cancel(Request request) {
        MapTask task = task(request);
        if (task.step == MapTask.Step.HOST) {
            host.cancel(task.host);
        } else if (turns.remove(task)) {
            ended(task, CANCELLED);
        } else {
            task.cancelled = true;
        }
    }

    @Override
    public void turn(long waitNanos) {
        moved = false;
        poll();
        if (moved || !ended.isEmpty() || waitNanos == 0) {
            host.turn(0);
        } else if (moving.isEmpty()) {
            host.turn(waitNanos);
        } else {
            await(waitNanos);
        }
        poll();
        if (moved) {
            pause.reset();
        }
        report();
    }

    /**
     * Waits for the device and the host queue at once, and only briefly: the device's completions are found by polling
     * only.
     */
    private void await(long waitNanos) {
        pause.spinFor(waitNanos < 0 ? AWAKE_NANOS : Math.min(waitNanos, AWAKE_NANOS));
        long nap;
        do {
            host.turn(0);
            poll();
            if (moved) {
                return;
            }
            nap = pause.next(waitNanos);
        } while (nap == 0);
        host.turn(nap);
    }

    /** Submits new requests to the device, and continues requests whose map or unmap has completed. */
    private void poll() {
        for (MapTask task = called.poll(); task != null; task = called.poll()) {
            moved = true;
            map(task);
        }
        flush();
        int kept = 0;
        for (int i = 0; i < moving.size(); i++) {
            MapTask task = moving.get(i);
            if (task.isSettled()) {
                moved = true;
                settled(task);
            } else {
                moving.set(kept++, task);
            }
        }
        moving.subList(kept, moving.size()).clear();
    }

    private void settled(MapTask task) {
        NativeFailure failure = task.stepFailure();
        if (task.step == MapTask.Step.UNMAP) {
            end(task, failure != null ? failure : task.failure);
        } else if (failure != null) {
            end(task, failure);
        } else if (task.cancelled) {
            task.failure = CANCELLED;
            unmap(task);
        } else {
            task.step = MapTask.Step.HOST;
            host.enqueue(task.hostPart());
        }
    }

    @Override
    public void hostEnded(MapTask task) {
        moved = true;
        if (task.maps()) {
            unmap(task);
        } else {
            ended(task, task.failure);
        }
    }

    private void unmap(MapTask task) {
        move(task, MapTask.Step.UNMAP, task.unmap(queue));
        if (task.isAwaited()) {
            flush(); // others may wait for it only now
            task.markStreamOrdered();
        }
    }

    private void flush() {
        if (unflushed) {
            unflushed = false;
            Flush.orFinish(queue);
        }
    }

    private void report() {
        for (MapTask task = ended.poll(); task != null; task = ended.poll()) {
            task.report();
        }
    }

    @Override
    public Wakeup wakeup() {
        return host.wakeup();
    }

    @Override
    public void close() {
        host.close();
        OpenCl.clReleaseCommandQueue(queue);
        context.leave();
    }
}
