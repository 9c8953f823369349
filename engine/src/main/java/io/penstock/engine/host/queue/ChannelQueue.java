// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;

/**
 * Requests over file channels: a bounded number of threads make blocking positional calls. Works on any operating
 * system, and without JNA for memory that is available as a byte buffer.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}. The threads belong to the queue, start on demand, and are never
 * interrupted in a call: that would close the channel.
 *
 * <p><b>Cancellation:</b> a request that no thread has begun is withdrawn; others run to completion.
 */
public class ChannelQueue implements NativeQueue { // a simulation starts threads and waits in its own way
    private final int depth;
    private final ArrayBlockingQueue<ChannelCall> waiting;
    private final MpscVarHandleArrayQueue<ChannelCall> ended;
    private final InlineRequests inline;
    private final Wakeup wakeup = new Wakeup();
    private final Thread[] threads;
    private int started; // I/O queue only: number of threads
    private int inFlight; // I/O queue only: tasks, including those that wait
    private volatile boolean closed;

    /**
     * Creates a queue.
     *
     * @param depth maximum number of requests queued or in flight
     * @param threads maximum number of concurrent blocking calls
     */
    public ChannelQueue(int depth, int threads) {
        this.depth = depth;
        waiting = new ArrayBlockingQueue<>(depth);
        ended = new MpscVarHandleArrayQueue<>(Math.max(2, depth));
        inline = new InlineRequests(depth);
        this.threads = new Thread[threads];
    }

    @Override
    public int depth() {
        return depth;
    }

    @Override
    public void enqueue(Request request) {
        if (request.isCopy()) {
            inline.copy(request);
            return;
        }
        inFlight++;
        ChannelCall call = ChannelCall.of(request);
        if (started < Math.min(inFlight, threads.length)) {
            try {
                startThread();
            } catch (OutOfMemoryError e) { // the system permits no more threads: those that there are do the work
                if (started == 0) {
                    call.fails("Thread.start", e);
                    ended.add(call);
                    return;
                }
            }
        }
        waiting.add(call); // there is room for every tag
    }

    @Override
    public void cancel(Request request) {
        ChannelCall call = ChannelCall.of(request);
        if (waiting.remove(call)) {
            call.cancelled();
            ended.add(call);
        }
    }

    @Override
    public void turn(long waitNanos) {
        int reported = inline.run() + report();
        if (reported > 0 || waitNanos == 0) {
            return;
        }
        await(wakeup, waitNanos);
        report();
    }

    @Override
    public Wakeup wakeup() {
        return wakeup;
    }

    @Override
    public void close() {
        closed = true;
        for (int i = 0; i < started; i++) {
            threads[i].interrupt(); // nothing is in flight, so it is waiting, not in a call
        }
    }

    private int report() {
        int count = 0;
        for (ChannelCall call = ended.poll(); call != null; call = ended.poll()) {
            inFlight--;
            count++;
            call.report();
        }
        return count;
    }

    /** Blocks until the I/O queue is woken or the time has elapsed. */
    void await(Wakeup wakeup, long waitNanos) {
        wakeup.await(waitNanos);
    }

    private void startThread() {
        Thread thread = newThread(this::serve, "penstock-host-io-" + started);
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

    /** Blocks until a task is available. */
    ChannelCall take(BlockingQueue<ChannelCall> waiting) throws InterruptedException {
        return waiting.take();
    }

    private void serve() {
        while (!closed) {
            try {
                ChannelCall call = take(waiting);
                call.run();
                ended.add(call);
                wakeup.wake(); // after add: an I/O queue that was about to wait looks again
            } catch (InterruptedException ending) {
                // closed says whether
            }
        }
    }
}
