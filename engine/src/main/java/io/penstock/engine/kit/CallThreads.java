// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import io.penstock.engine.spi.Wakeup;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a {@link io.penstock.engine.spi.NativeQueue} that make blocking calls: a bounded number, started on
 * demand, and interrupted only while they wait for a call.
 *
 * <p><b>Threading:</b> the I/O queue's thread. From {@link #begin} until {@link #poll} returns it, an object belongs to
 * these threads, one at a time; the queues in between order the accesses.
 *
 * @param <C> a call, and its result
 */
public class CallThreads<C> { // a simulation starts threads and waits in its own way

    /**
     * How calls are made.
     *
     * @param <C> a call, and its result
     */
    public interface Calls<C> {

        /** Makes a call, which may block, and stores its result; on one of the threads. */
        void make(C call) throws Exception;

        /**
         * Stores that a call has failed: {@link #make} has thrown, or the system permits no thread. On one of the
         * threads, or the thread of the I/O queue.
         */
        void fail(C call, Throwable cause);
    }

    private final String name;
    private final Calls<C> calls;
    private final Wakeup wakeup;
    private final ArrayBlockingQueue<C> waiting;
    private final MpscVarHandleArrayQueue<C> ended;
    private final Thread[] threads;
    private int started;
    private int inFlight; // including calls that wait
    private volatile boolean closed;

    /**
     * Creates it, without a thread.
     *
     * @param name of each thread, before its number
     * @param most the most threads
     * @param depth the most calls at once, including those that wait
     * @param wakeup woken when a call has ended
     */
    public CallThreads(String name, int most, int depth, Wakeup wakeup, Calls<C> calls) {
        this.name = name;
        this.calls = calls;
        this.wakeup = wakeup;
        waiting = new ArrayBlockingQueue<>(depth);
        ended = new MpscVarHandleArrayQueue<>(Math.max(2, depth));
        threads = new Thread[most];
    }

    /** Returns the wakeup of the I/O queue. */
    public final Wakeup wakeup() {
        return wakeup;
    }

    /** Accepts a call. It fails if there is no thread, and none can be started. */
    public final void begin(C call) {
        inFlight++;
        if (started < Math.min(inFlight, threads.length)) {
            try {
                startThread();
            } catch (OutOfMemoryError e) { // the system permits no more threads: the existing threads do the work
                if (started == 0) {
                    calls.fail(call, e);
                    ended.add(call);
                    return;
                }
            }
        }
        waiting.add(call); // there is room for every call
    }

    /** Withdraws a call that no thread has begun, which ends without having been made; returns whether it did. */
    public final boolean withdraw(C call) {
        return waiting.remove(call) && ended.add(call);
    }

    /** Returns the next call that has ended; null if there is none. */
    public final @Nullable C poll() {
        C call = inFlight == 0 ? null : ended.poll();
        if (call != null) {
            inFlight--;
        }
        return call;
    }

    /** Returns how many calls are made at the same time at most. */
    public int most() {
        return threads.length;
    }

    /** Ends the threads; no call may be in flight. Does not wait for them. */
    public final void close() {
        closed = true;
        for (int i = 0; i < started; i++) {
            threads[i].interrupt(); // nothing is in flight, so it is waiting, not in a call
        }
    }

    private void startThread() {
        Thread thread = newThread(name + started, this::serve);
        thread.start();
        threads[started++] = thread;
    }

    /** Creates a thread, to be started once and interrupted at the end. */
    protected Thread newThread(String threadName, Runnable body) {
        return new DaemonThread(threadName, body);
    }

    /** Blocks until there is a call. */
    protected C take(BlockingQueue<C> waitingCalls) throws InterruptedException {
        return waitingCalls.take();
    }

    private void serve() {
        while (!closed) {
            try {
                C call = take(waiting);
                make(call);
                ended.add(call);
                wakeup.wake(); // after add: an I/O queue that was about to wait looks again
            } catch (InterruptedException ending) {
                // closed is checked next
            }
        }
    }

    private void make(C call) {
        try {
            calls.make(call);
        } catch (Exception | Error e) {
            calls.fail(call, e);
        }
    }
}
