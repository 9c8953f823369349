// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.NativeError;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Moves bytes between files and buffers that the processor reaches while they are mapped: each command maps its range,
 * hands the rest to a queue of the host's, and unmaps it; the command has ended when the unmap has.
 *
 * <p>The device's answers are asked for, a while without a pause, then with growing ones: a map on a device that shares
 * the host's memory moves nothing and takes a few microseconds.
 *
 * <p><b>Cancellation:</b> what waits for its map ends when that has come, the rest as the host's queue says.
 */
final class MapQueue implements NativeQueue {

    private static final long CANCELLED = Long.MIN_VALUE;

    /** How long the lane looks at the device without a pause. */
    private static final long AWAKE_NANOS = 50_000;

    private static final long FIRST_PAUSE_NANOS = 5_000;
    private static final long LONGEST_PAUSE_NANOS = 200_000;

    private final ClContext context;
    private final NativeQueue host;
    private final long queue;
    private final MapTask[] tasks; // by id
    private final boolean[] maps; // by id: whether the command is one that maps
    private final ConcurrentLinkedQueue<MapTask> called = new ConcurrentLinkedQueue<>(); // their turn has come
    private final List<MapTask> moving = new ArrayList<>(); // being mapped or unmapped
    private final ArrayDeque<MapTask> ended = new ArrayDeque<>();
    private final Command command = new Command();
    private Completions completions = (id, result) -> {};
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
        this.tasks = new MapTask[host.depth()];
        this.maps = new boolean[tasks.length];
        for (int id = 0; id < tasks.length; id++) {
            tasks[id] = new MapTask(id, this::turnHasCome);
        }
        context.join();
    }

    @Override
    public int depth() {
        return tasks.length;
    }

    @Override
    public void enqueue(int id, Command command) {
        maps[id] = command.kind() != Command.Kind.SYNC && command.memory() instanceof ClMemory;
        if (!maps[id]) {
            host.enqueue(id, command);
            return;
        }
        MapTask task = tasks[id];
        task.fill(command);
        task.step = MapTask.Step.TURN;
        if (context.mapTurns().enter(task)) {
            map(task);
        }
    }

    /** Hears that another, perhaps of another lane, has let go of what a task needs. */
    private void turnHasCome(MapTask task) {
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
            end(task, step.call.failed(answer));
        }
    }

    private void end(MapTask task, long result) {
        context.mapTurns().leave(task);
        ended(task, result);
    }

    private void ended(MapTask task, long result) {
        task.step = MapTask.Step.END;
        task.result = result;
        ended.add(task);
    }

    @Override
    public void cancel(int id) {
        if (!maps[id] || tasks[id].step == MapTask.Step.HOST) {
            host.cancel(id);
        } else if (context.mapTurns().forget(tasks[id])) {
            ended(tasks[id], CANCELLED);
        } else {
            tasks[id].cancelled = true;
        }
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        this.completions = completions;
        moved = false;
        look();
        if (moved || !ended.isEmpty() || waitNanos == 0) {
            hostTurn(0);
        } else if (moving.isEmpty()) {
            hostTurn(waitNanos);
        } else {
            await(waitNanos);
        }
        look();
        report();
    }

    private void hostTurn(long waitNanos) {
        host.turn(waitNanos, this::hostEnded);
    }

    /** Waits for the device and for the host's queue at once, and not for long: only looking tells of the device. */
    private void await(long waitNanos) {
        long most = waitNanos < 0 ? Long.MAX_VALUE : waitNanos;
        long awake = Math.min(most, AWAKE_NANOS);
        long start = System.nanoTime();
        do {
            hostTurn(0);
            look();
            if (moved) {
                pauseNanos = FIRST_PAUSE_NANOS;
                return;
            }
            Thread.onSpinWait();
        } while (System.nanoTime() - start < awake);
        hostTurn(Math.min(most, pauseNanos));
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
        long failure = task.failure();
        if (task.step == MapTask.Step.UNMAP) {
            end(task, failure < 0 ? failure : task.result);
        } else if (failure < 0) {
            end(task, failure);
        } else if (task.cancelled) {
            task.result = CANCELLED;
            unmap(task);
        } else {
            task.step = MapTask.Step.HOST;
            task.hostPart(command);
            host.enqueue(task.id, command);
        }
    }

    private void hostEnded(int id, long result) {
        moved = true;
        if (maps[id]) {
            tasks[id].result = result;
            unmap(tasks[id]);
        } else {
            completions.completed(id, result);
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
            task.forget();
            completions.completed(task.id, task.result);
        }
    }

    @Override
    public void wake() {
        host.wake();
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        if (result == CANCELLED) {
            return new NativeFailure(
                    new NativeError("clEnqueueMapBuffer", 0, "CANCELLED"), NativeFailure.Kind.CANCELLED);
        }
        return ClCall.isOne(result) ? ClCall.failure(result) : host.failure(kind, result);
    }

    @Override
    public void close() {
        host.close();
        OpenCl.clReleaseCommandQueue(queue);
        context.leave();
    }
}
