// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.NativeError;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between files and buffers that the processor reaches while they are mapped: each request maps its range,
 * hands the rest to a queue of the host's, and unmaps it; the request has ended when the unmap has.
 *
 * <p>The device's answers are asked for, a while without a pause, then with growing ones: a map on a device that shares
 * the host's memory moves nothing and takes a few microseconds.
 *
 * <p><b>Cancellation:</b> what waits for its map ends when that has come, the rest as the host's queue says.
 */
final class MapQueue implements NativeQueue {

    private static final NativeFailure CANCELLED =
            new NativeFailure(new NativeError("clEnqueueMapBuffer", 0, "CANCELLED"), NativeFailure.Kind.CANCELLED);

    /** How long the lane looks at the device without a pause. */
    private static final long AWAKE_NANOS = 50_000;

    private static final long FIRST_PAUSE_NANOS = 5_000;
    private static final long LONGEST_PAUSE_NANOS = 200_000;

    private final ClContext context;
    private final NativeQueue host;
    private final long queue;
    private final Function<Request, MapTask> newTask;
    private final ConcurrentLinkedQueue<MapTask> called = new ConcurrentLinkedQueue<>(); // their turn has come
    private final List<MapTask> moving = new ArrayList<>(); // being mapped or unmapped
    private final ArrayDeque<MapTask> ended = new ArrayDeque<>();
    private long pauseNanos = FIRST_PAUSE_NANOS;
    private boolean unflushed;
    private boolean moved; // whether anything went on since the turn began

    /**
     * Makes one, a user of the context.
     *
     * @param host taken over
     */
    MapQueue(ClContext context, NativeQueue host) {
        this.context = context;
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
    public void enqueue(Request request) {
        MapTask task = task(request);
        task.begin();
        if (!task.maps()) {
            task.step = MapTask.Step.HOST;
            host.enqueue(task.host.as(request));
            return;
        }
        task.step = MapTask.Step.TURN;
        if (context.mapTurns().enter(task)) {
            map(task);
        }
    }

    private MapTask task(Request request) {
        return request.attachment(MapTask.class, newTask);
    }

    /** Takes a task whose range another, perhaps of another lane, has let go of; any thread. */
    void turnHasCome(MapTask task) {
        called.add(task);
        host.wake();
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
        context.mapTurns().leave(task);
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
        } else if (context.mapTurns().forget(task)) {
            ended(task, CANCELLED);
        } else {
            task.cancelled = true;
        }
    }

    @Override
    public void turn(long waitNanos) {
        moved = false;
        look();
        if (moved || !ended.isEmpty() || waitNanos == 0) {
            host.turn(0);
        } else if (moving.isEmpty()) {
            host.turn(waitNanos);
        } else {
            await(waitNanos);
        }
        look();
        report();
    }

    /** Waits for the device and for the host's queue at once, and not for long: only looking tells of the device. */
    private void await(long waitNanos) {
        long most = waitNanos < 0 ? Long.MAX_VALUE : waitNanos;
        long awake = Math.min(most, AWAKE_NANOS);
        long start = System.nanoTime();
        do {
            host.turn(0);
            look();
            if (moved) {
                pauseNanos = FIRST_PAUSE_NANOS;
                return;
            }
            Thread.onSpinWait();
        } while (System.nanoTime() - start < awake);
        host.turn(Math.min(most, pauseNanos));
        pauseNanos = Math.min(LONGEST_PAUSE_NANOS, 2 * pauseNanos);
    }

    /** Takes further what the device has mapped or unmapped, after handing it what is new. */
    private void look() {
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

    /** Takes a task whose part the host has ended. */
    void hostEnded(MapTask task) {
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
            flush(); // others may be told to wait for it only now
            task.standsInOrder();
        }
    }

    private void flush() {
        if (unflushed) {
            unflushed = false;
            OpenCl.clFlush(queue); // what it answers, the events of what was flushed answer too
        }
    }

    private void report() {
        for (MapTask task = ended.poll(); task != null; task = ended.poll()) {
            task.report();
        }
    }

    @Override
    public void wake() {
        host.wake();
    }

    @Override
    public void close() {
        host.close();
        OpenCl.clReleaseCommandQueue(queue);
        context.leave();
    }
}
