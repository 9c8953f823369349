// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.engine.spi.CallThreads;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;

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
    private final CallThreads<ChannelCall> threads;
    private final InlineRequests inline;

    /**
     * Creates a queue.
     *
     * @param depth maximum number of requests queued or in flight
     * @param threads maximum number of concurrent blocking calls
     */
    public ChannelQueue(int depth, int threads) {
        this(depth, new CallThreads<>("penstock-host-io-", threads, depth, new Wakeup(), ChannelCall.CALLS));
    }

    ChannelQueue(int depth, CallThreads<ChannelCall> threads) {
        this.depth = depth;
        this.threads = threads;
        inline = new InlineRequests(depth);
    }

    @Override
    public int depth() {
        return depth;
    }

    @Override
    public int parallelism() {
        return threads.most();
    }

    @Override
    public void enqueue(Request request) {
        if (request.isCopy()) {
            inline.copy(request);
            return;
        }
        threads.begin(ChannelCall.of(request));
    }

    @Override
    public void cancel(Request request) {
        ChannelCall call = ChannelCall.of(request);
        if (threads.withdraw(call)) {
            call.cancelled();
        }
    }

    @Override
    public void turn(long waitNanos) {
        int reported = inline.run() + report();
        if (reported > 0 || waitNanos == 0) {
            return;
        }
        await(threads.wakeup(), waitNanos);
        report();
    }

    @Override
    public Wakeup wakeup() {
        return threads.wakeup();
    }

    @Override
    public void close() {
        threads.close();
    }

    private int report() {
        int count = 0;
        for (ChannelCall call = threads.poll(); call != null; call = threads.poll()) {
            count++;
            call.report();
        }
        return count;
    }

    /** Blocks until the I/O queue is woken or the time has elapsed. */
    void await(Wakeup wakeup, long waitNanos) {
        wakeup.await(waitNanos);
    }
}
