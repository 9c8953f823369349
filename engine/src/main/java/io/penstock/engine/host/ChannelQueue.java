// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.ffi.Errno;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Commands over file channels: a bounded number of threads make positional calls that block. Works on any operating
 * system, without JNA for memory that is {@link HostMemory}.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}. The threads are the queue's own, start as they are needed, and are
 * never interrupted in a call: that would close the channel.
 *
 * <p><b>Cancellation:</b> takes a command back that no thread has begun; others end by themselves.
 */
class ChannelQueue implements NativeQueue { // a simulation starts threads and waits in its own way
    private final ChannelTask[] tasks; // by id
    private final ArrayBlockingQueue<ChannelTask> waiting;
    private final MpscVarHandleArrayQueue<ChannelTask> ended;
    private final InlineCommands inline;
    private final WakeState wakeState = new WakeState();
    private final Thread[] threads;
    private int started; // lane only: how many threads
    private int inFlight; // lane only: tasks, including those that wait
    private volatile @Nullable Thread lane; // while it waits
    private volatile boolean closed;

    /**
     * Makes one.
     *
     * @param depth commands that may be queued or in flight at once
     * @param threads calls that may block at once
     */
    ChannelQueue(int depth, int threads) {
        tasks = new ChannelTask[depth];
        for (int id = 0; id < depth; id++) {
            tasks[id] = new ChannelTask(id);
        }
        waiting = new ArrayBlockingQueue<>(depth);
        ended = new MpscVarHandleArrayQueue<>(Math.max(2, depth));
        inline = new InlineCommands(depth);
        this.threads = new Thread[threads];
    }

    @Override
    public int depth() {
        return tasks.length;
    }

    @Override
    public void enqueue(int id, Command command) {
        if (command.kind() == Command.Kind.COPY_IN || command.kind() == Command.Kind.COPY_OUT) {
            inline.copy(id, command);
            return;
        }
        tasks[id].fill(command);
        inFlight++;
        if (started < Math.min(inFlight, threads.length)) {
            startThread();
        }
        waiting.add(tasks[id]); // there is room for every id
    }

    @Override
    public void cancel(int id) {
        ChannelTask task = tasks[id];
        if (waiting.remove(task)) {
            task.result = -Errno.ECANCELED;
            ended.add(task);
        }
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        int reported = inline.run(completions) + drain(completions);
        if (reported > 0 || waitNanos == 0) {
            return;
        }
        lane = Thread.currentThread();
        if (wakeState.beginWait()) {
            park(wakeState, waitNanos);
            wakeState.endWait();
        }
        drain(completions);
    }

    @Override
    public void wake() {
        if (wakeState.wake()) {
            LockSupport.unpark(lane);
        }
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        String call = switch (kind) {
            case READ -> "FileChannel.read";
            case WRITE -> "FileChannel.write";
            case SYNC -> "FileChannel.force";
            case COPY_IN, COPY_OUT -> "ByteBuffer.put";
        };
        Throwable thrown = result <= ChannelTask.THREW ? tasks[(int) (ChannelTask.THREW - result)].thrown : null;
        return thrown == null ? HostFailure.of(call, result) : HostFailure.of(call, thrown);
    }

    @Override
    public void close() {
        closed = true;
        for (int i = 0; i < started; i++) {
            threads[i].interrupt(); // nothing is in flight, so that it waits and is in no call
        }
    }

    private int drain(Completions completions) {
        int count = 0;
        for (ChannelTask task = ended.poll(); task != null; task = ended.poll()) {
            inFlight--;
            count++;
            task.forget();
            completions.completed(task.id, task.result);
        }
        return count;
    }

    /** Waits until the lane is woken, or the time is over. */
    void park(WakeState wakeState, long waitNanos) {
        long begin = System.nanoTime();
        long left = waitNanos;
        boolean interrupted = false; // which keeps a thread from parking, and ends no wait for the device
        while (wakeState.isWaiting() && (waitNanos < 0 || left > 0)) {
            if (waitNanos < 0) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, left);
            }
            interrupted |= Thread.interrupted();
            left = waitNanos - (System.nanoTime() - begin);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void startThread() {
        Thread thread = newThread(this::serve, "penstock-host-io-" + started);
        threads[started++] = thread;
        thread.start();
    }

    /** Makes a thread, to be started once and interrupted at the end. */
    Thread newThread(Runnable body, String name) {
        Thread thread = new Thread(null, body, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // keeps no application's class loader alive
        return thread;
    }

    /** Waits for a task. */
    ChannelTask take(BlockingQueue<ChannelTask> waiting) throws InterruptedException {
        return waiting.take();
    }

    private void serve() {
        while (!closed) {
            try {
                ChannelTask task = take(waiting);
                task.run();
                ended.add(task);
                wake(); // after add: a lane that was about to wait looks again
            } catch (InterruptedException ending) {
                // closed says whether
            }
        }
    }
}
