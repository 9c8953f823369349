// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.engine.kit.CallThreads;
import io.penstock.engine.spi.Wakeup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.function.BooleanSupplier;

/** A queue over file channels whose threads, and the I/O queue's waits, are a simulation's. */
public final class SteppedChannelQueue extends ChannelQueue {

    /** What a simulation does instead of the system. */
    public interface Stage {

        /** Runs the body of a thread. */
        void start(Runnable body);

        /** Waits, as the thread that runs now, until something is so, or for so long; for ever if negative. */
        void await(BooleanSupplier something, long nanos);
    }

    private final Stage stage;

    /** As the queue's own constructor. */
    public SteppedChannelQueue(int depth, int threads, Stage stage) {
        super(depth, threads, new SteppedThreads(depth, threads, stage));
        this.stage = stage;
    }

    /** A thread that never runs: its body runs elsewhere, and an interruption ends its next wait for a task. */
    private static final class Stepped extends Thread {
        private final Runnable body;
        private final Stage stage;
        private boolean interrupted;

        Stepped(Runnable body, Stage stage) {
            this.body = body;
            this.stage = stage;
        }

        @Override
        public synchronized void start() {
            stage.start(body);
        }

        @Override
        public void interrupt() {
            interrupted = true;
        }
    }

    private static final class SteppedThreads extends CallThreads<ChannelCall> {
        private final Stage stage;
        private final List<Stepped> threads = new ArrayList<>();

        SteppedThreads(int depth, int threads, Stage stage) {
            super("stepped-", threads, depth, new Wakeup(), ChannelCall.CALLS);
            this.stage = stage;
        }

        @Override
        protected Thread newThread(String name, Runnable body) {
            Stepped thread = new Stepped(body, stage);
            threads.add(thread);
            return thread;
        }

        @Override
        protected ChannelCall take(BlockingQueue<ChannelCall> waiting) throws InterruptedException {
            stage.await(() -> !waiting.isEmpty() || isInterrupted(), -1);
            ChannelCall call = waiting.poll();
            if (call == null) {
                throw new InterruptedException();
            }
            return call;
        }

        private boolean isInterrupted() {
            return threads.stream().anyMatch(thread -> thread.interrupted); // all at once, by close()
        }
    }

    @Override
    void await(Wakeup wakeup, long waitNanos) {
        if (wakeup.begin()) {
            stage.await(() -> !wakeup.isWaiting(), waitNanos);
            wakeup.end();
        }
    }
}
