// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.sync;

import io.penstock.backend.cufile.driver.CuFileFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import io.penstock.engine.spi.file.HostFailure;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * cuFile's synchronous calls: a bounded number of threads make blocking calls. Other queues use it for requests that
 * they cannot do: copies of staging buffers, the staging buffers' own I/O, syncs.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}. The threads belong to the queue, start on demand, and keep the context
 * current.
 *
 * <p><b>Cancellation:</b> removes a request that no thread has started; others run to completion, since cuFileRead
 * cannot be stopped.
 */
public class CallQueue implements NativeQueue { // a test starts no threads

    private final BlockingCalls calls;
    private final @Nullable CallTask[] tasks; // by tag
    private final ArrayBlockingQueue<CallTask> waiting;
    private final MpscVarHandleArrayQueue<CallTask> ended;
    private final Wakeup wakeup = new Wakeup();
    private final Thread[] threads;
    private int started; // I/O queue only: how many threads
    private int inFlight; // I/O queue only: tasks, including those that wait
    private volatile boolean closed;

    /**
     * Creates a queue.
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

    /** Returns the task of a request, also for a queue in front of this one. */
    public CallTask task(Request request) {
        CallTask task = request.attachment(CallTask.class, CallTask::new);
        tasks[request.tag()] = task;
        return task;
    }

    /** Returns the task of a tag that has been used. */
    public CallTask task(int tag) {
        return Objects.requireNonNull(tasks[tag]);
    }

    @Override
    public void enqueue(Request request) {
        CallTask task = task(request);
        task.begin();
        begin(task);
    }

    /** Accepts a started task, of which a queue in front of this one may have done a part. */
    public void begin(CallTask task) {
        inFlight++;
        if (started < Math.min(inFlight, threads.length)) {
            try {
                startThread();
            } catch (OutOfMemoryError e) { // the system permits no more threads: those that there are do the work
                if (started == 0) {
                    task.fails(HostFailure.of("Thread.start", e));
                    ended.add(task);
                    return;
                }
            }
        }
        waiting.add(task); // there is room for every tag
    }

    @Override
    public void cancel(Request request) {
        CallTask task = task(request);
        if (waiting.remove(task)) {
            task.fails(CuFileFailure.CANCELLED);
            ended.add(task);
            wakeup.wake();
        }
    }

    @Override
    public void turn(long waitNanos) {
        if (report() == 0 && waitNanos != 0) {
            await(waitNanos);
            report();
        }
    }

    /** Reports completions, and returns how many there were. */
    int report() {
        int count = 0;
        for (CallTask task = ended.poll(); task != null; task = ended.poll()) {
            inFlight--;
            count++;
            task.report();
        }
        return count;
    }

    /** Blocks until there is a completion to report, or the I/O queue is woken. */
    void await(long nanos) {
        wakeup.await(nanos);
    }

    @Override
    public Wakeup wakeup() {
        return wakeup;
    }

    @Override
    public void close() {
        closed = true;
        for (int i = 0; i < started; i++) {
            threads[i].interrupt(); // nothing is in flight, so it is in no call
        }
        calls.close();
    }

    private void startThread() {
        Thread thread = newThread(this::serve, "penstock-cufile-" + started);
        thread.start();
        threads[started++] = thread;
    }

    /** Creates a thread, to be started once and interrupted at the end. */
    Thread newThread(Runnable body, String name) {
        Thread thread = new Thread(null, body, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // keeps no application's class loader alive
        return thread;
    }

    private void serve() {
        while (!closed) {
            try {
                CallTask task = waiting.take();
                run(task);
                ended.add(task);
                wakeup.wake(); // after add: an I/O queue that was about to wait looks again
            } catch (InterruptedException ending) {
                // closed is checked next
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
