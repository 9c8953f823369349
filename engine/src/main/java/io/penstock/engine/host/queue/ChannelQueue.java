// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.Options;
import io.penstock.engine.kit.CallThreads;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;

/**
 * Requests over file channels: a bounded number of threads for each file system make blocking positional calls. Works
 * on any operating system, and without JNA for memory that is available as a byte buffer.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}. The threads belong to the queue, start on demand, and are never
 * interrupted in a call: that would close the channel.
 *
 * <p><b>Cancellation:</b> a request that no thread has begun is withdrawn; others run to completion.
 */
public class ChannelQueue implements NativeQueue { // a simulation starts threads and waits in its own way
    private static final int MOST_THREADS = 16;

    private final int depth;
    private final int parallelism;
    private final CallThreads<ChannelCall> threads;
    private final InlineRequests inline;

    /**
     * Creates a queue.
     *
     * @param depth maximum number of requests queued or in flight
     * @param threads maximum number of concurrent blocking calls on files of one file system
     */
    public ChannelQueue(int depth, int threads) {
        this(depth, threads, new CallThreads<>("penstock-host-io-", depth, depth, new Wakeup(), ChannelCall.CALLS));
    }

    ChannelQueue(int depth, int parallelism, CallThreads<ChannelCall> threads) {
        this.depth = depth;
        this.parallelism = parallelism;
        this.threads = threads;
        inline = new InlineRequests(depth);
    }

    @Override
    public int depth() {
        return depth;
    }

    @Override
    public int parallelism() {
        return parallelism;
    }

    /** The I/O queue keeps to it: so a file system that answers slowly does not hold up others. */
    @Override
    public int laneDepth() {
        return parallelism;
    }

    /** Returns how many calls on files of one file system are made at the same time. */
    public static int threads(Options options) {
        int threads = options.get(HostOptions.THREADS);
        return threads != 0
                ? threads
                : Math.min(MOST_THREADS, 2 * Runtime.getRuntime().availableProcessors());
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
        int reported = inline.run() + ChannelCall.report(threads);
        if (reported > 0 || waitNanos == 0) {
            return;
        }
        await(threads.wakeup(), waitNanos);
        ChannelCall.report(threads);
    }

    @Override
    public Wakeup wakeup() {
        return threads.wakeup();
    }

    @Override
    public void close() {
        threads.close();
    }

    /** Blocks until the I/O queue is woken or the time has elapsed. */
    void await(Wakeup wakeup, long waitNanos) {
        wakeup.await(waitNanos);
    }
}
