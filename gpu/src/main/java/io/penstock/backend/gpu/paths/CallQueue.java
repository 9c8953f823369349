// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.FileApi;
import io.penstock.engine.kit.CallThreads;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The file API's synchronous calls: a bounded number of threads make blocking calls. Other queues use it for requests that
 * they cannot do: copies of staging buffers, the staging buffers' own I/O, syncs.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}. The threads belong to the queue, start on demand, and keep the context
 * current.
 *
 * <p><b>Cancellation:</b> removes a request that no thread has started; others run to completion, since a call
 * cannot be stopped.
 */
public final class CallQueue implements NativeQueue {

    private final BlockingCalls calls;
    private final @Nullable CallTask[] tasks; // by tag
    private final CallThreads<CallTask> threads;

    /**
     * Creates a queue.
     *
     * @param depth requests that may be queued or in flight at once
     * @param threads calls that may block at once
     */
    public CallQueue(BlockingCalls calls, int depth, int threads) {
        this.calls = calls;
        this.tasks = new CallTask[depth];
        this.threads =
                new CallThreads<>("penstock-" + calls.files().prefix() + "-", threads, depth, new Wakeup(), calls);
    }

    @Override
    public int depth() {
        return tasks.length;
    }

    FileApi files() {
        return calls.files();
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
        threads.begin(task);
    }

    @Override
    public void cancel(Request request) {
        CallTask task = task(request);
        if (threads.withdraw(task)) {
            task.fails(FileApi.CANCELLED);
        }
    }

    @Override
    public void turn(long waitNanos) {
        if (report(null) == 0 && waitNanos != 0) {
            await(waitNanos);
            report(null);
        }
    }

    /**
     * Reports completions, and returns how many there were.
     *
     * @param asked receives the tasks that have only asked their file
     */
    int report(@Nullable Queue<CallTask> asked) {
        int count = 0;
        for (CallTask task = threads.poll(); task != null; task = threads.poll()) {
            count++;
            if (task.cancelled && task.failure() == null) {
                task.fails(FileApi.CANCELLED);
            }
            if (asked != null && task.asksOnly && task.failure() == null) {
                task.asksOnly = false;
                asked.add(task);
            } else {
                task.report();
            }
        }
        return count;
    }

    /** Blocks until there is a completion to report, or the I/O queue is woken. */
    void await(long nanos) {
        threads.wakeup().await(nanos);
    }

    @Override
    public Wakeup wakeup() {
        return threads.wakeup();
    }

    @Override
    public void close() {
        threads.close();
        calls.close();
    }
}
