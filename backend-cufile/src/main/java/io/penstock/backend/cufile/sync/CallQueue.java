// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.sync;

import io.penstock.backend.cufile.driver.CuFileFailure;
import io.penstock.engine.host.HostFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.Doorbell;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * cuFile's synchronous way: a bounded number of threads make calls that block. It also does for other queues what has no
 * other way: copies of slots, the slots' own I/O, syncs.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}. The threads are the queue's own, start as they are needed, and have the
 * context current for good.
 *
 * <p><b>Cancellation:</b> takes a request back that no thread has begun; others end by themselves, since cuFileRead
 * cannot be stopped.
 */
public final class CallQueue implements NativeQueue {

    private final BlockingCalls calls;
    private final @Nullable CallTask[] tasks; // by tag
    private final ArrayBlockingQueue<CallTask> waiting;
    private final MpscVarHandleArrayQueue<CallTask> ended;
    private final Doorbell bell = new Doorbell();
    private final Thread[] threads;
    private int started; // lane only: how many threads
    private int inFlight; // lane only: tasks, including those that wait
    private volatile boolean closed;

    /**
     * Makes one.
     *
     * @param depth requests that may be queued or in flight at once
     * @param threads calls that may block at once
     */
    public CallQueue(BlockingCalls calls, int depth, int threads) {
        this.calls = calls;
        this.tasks = new CallTask[depth];
        this.waiting = new ArrayBlockingQueue<>(depth);
        this.ended = new MpscVarHandleArrayQueue<>(Math.max(2, depth));
        this.threads = new Thread[threads];
    }

    @Override
    public int depth() {
        return tasks.length;
    }

    /** Returns what is kept beside a request, for a queue in front of this one too. */
    public CallTask task(Request request) {
        CallTask task = request.attachment(CallTask.class, CallTask::new);
        tasks[request.tag()] = task;
        return task;
    }

    /** Returns what is kept beside the request of a tag, which there has been. */
    public CallTask task(int tag) {
        return Objects.requireNonNull(tasks[tag]);
    }

    @Override
    public void enqueue(Request request) {
        CallTask task = task(request);
        task.begin();
        begin(task);
    }

    /** Takes a task that has begun, and of which a queue in front of this one may have done a part. */
    public void begin(CallTask task) {
        inFlight++;
        if (started < Math.min(inFlight, threads.length)) {
            startThread();
        }
        waiting.add(task); // there is room for every tag
    }

    @Override
    public void cancel(Request request) {
        CallTask task = task(request);
        if (waiting.remove(task)) {
            task.fails(CuFileFailure.CANCELLED);
            ended.add(task);
            bell.ring();
        }
    }

    @Override
    public void turn(long waitNanos) {
        if (report() == 0 && waitNanos != 0) {
            await(waitNanos);
            report();
        }
    }

    /** Reports what has ended, and returns how much that was. */
    int report() {
        int count = 0;
        for (CallTask task = ended.poll(); task != null; task = ended.poll()) {
            inFlight--;
            count++;
            task.report();
        }
        return count;
    }

    /** Waits until there is something to report, or somebody calls {@link #wake}. */
    void await(long nanos) {
        bell.await(nanos);
    }

    @Override
    public void wake() {
        bell.ring();
    }

    @Override
    public void close() {
        closed = true;
        for (int i = 0; i < started; i++) {
            threads[i].interrupt(); // nothing is in flight, so that it waits and is in no call
        }
        calls.close();
    }

    private void startThread() {
        Thread thread = new Thread(null, this::serve, "penstock-cufile-" + started, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // keeps no application's class loader alive
        threads[started++] = thread;
        thread.start();
    }

    private void serve() {
        while (!closed) {
            try {
                CallTask task = waiting.take();
                run(task);
                ended.add(task);
                bell.ring(); // after add: a lane that was about to wait looks again
            } catch (InterruptedException ending) {
                // closed says whether
            }
        }
    }

    private void run(CallTask task) {
        try {
            calls.run(task);
        } catch (RuntimeException | Error broken) {
            task.fails(HostFailure.of(BlockingCalls.call(task), broken));
        }
    }
}
