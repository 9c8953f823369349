// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Requests over file channels: a bounded number of threads make positional calls that block. Works on any operating
 * system, without JNA for memory that is {@link HostMemory}.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}. The threads are the queue's own, start as they are needed, and are
 * never interrupted in a call: that would close the channel.
 *
 * <p><b>Cancellation:</b> takes a request back that no thread has begun; others end by themselves.
 */
class ChannelQueue implements NativeQueue { // a simulation starts threads and waits in its own way
    private final int depth;
    private final ArrayBlockingQueue<ChannelCall> waiting;
    private final MpscVarHandleArrayQueue<ChannelCall> ended;
    private final InlineRequests inline;
    private final WakeState wakeState = new WakeState();
    private final Thread[] threads;
    private int started; // lane only: how many threads
    private int inFlight; // lane only: tasks, including those that wait
    private volatile @Nullable Thread lane; // while it waits
    private volatile boolean closed;

    /**
     * Makes one.
     *
     * @param depth requests that may be queued or in flight at once
     * @param threads calls that may block at once
     */
    ChannelQueue(int depth, int threads) {
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
        if (started < Math.min(inFlight, threads.length)) {
            startThread();
        }
        waiting.add(ChannelCall.of(request)); // there is room for every tag
    }

    @Override
    public void cancel(Request request) {
        ChannelCall call = ChannelCall.of(request);
        if (waiting.remove(call)) {
            call.takenBack();
            ended.add(call);
        }
    }

    @Override
    public void turn(long waitNanos) {
        int reported = inline.run() + report();
        if (reported > 0 || waitNanos == 0) {
            return;
        }
        lane = Thread.currentThread();
        if (wakeState.beginWait()) {
            park(wakeState, waitNanos);
            wakeState.endWait();
        }
        report();
    }

    @Override
    public void wake() {
        if (wakeState.wake()) {
            LockSupport.unpark(lane);
        }
    }

    @Override
    public void close() {
        closed = true;
        for (int i = 0; i < started; i++) {
            threads[i].interrupt(); // nothing is in flight, so that it waits and is in no call
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
    ChannelCall take(BlockingQueue<ChannelCall> waiting) throws InterruptedException {
        return waiting.take();
    }

    private void serve() {
        while (!closed) {
            try {
                ChannelCall call = take(waiting);
                call.run();
                ended.add(call);
                wake(); // after add: a lane that was about to wait looks again
            } catch (InterruptedException ending) {
                // closed says whether
            }
        }
    }
}
