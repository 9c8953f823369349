// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import org.jspecify.annotations.Nullable;

/** A queue that is called by the I/O queue that turns it alone (rule 301). */
final class QueueOnly implements NativeQueue {
    private final NativeQueue queue;
    private final World world;
    private @Nullable Object ioQueue;

    QueueOnly(NativeQueue queue, World world) {
        this.queue = queue;
        this.world = world;
    }

    private void check(String call) {
        Object caller = world.caller();
        if (ioQueue == null) {
            ioQueue = caller;
        } else if (ioQueue != caller) {
            throw new Violation("301: " + call + " by another thread than the I/O queue's");
        }
    }

    @Override
    public int depth() {
        return queue.depth();
    }

    @Override
    public int idleParallelism() {
        check("idleParallelism");
        return queue.idleParallelism();
    }

    @Override
    public void enqueue(Request request) {
        check("enqueue");
        queue.enqueue(request);
    }

    @Override
    public void cancel(Request request) {
        check("cancel");
        queue.cancel(request);
    }

    @Override
    public void turn(long waitNanos) {
        check("turn");
        queue.turn(waitNanos);
    }

    @Override
    public Wakeup wakeup() {
        return queue.wakeup();
    }

    @Override
    public void close() {
        queue.close();
    }
}
