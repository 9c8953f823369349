// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;

/** A queue that is called by the lane that turns it, and by nobody else (rule 301). */
final class LaneOnly implements NativeQueue {
    private final NativeQueue queue;
    private final World world;
    private @Nullable Object lane;

    LaneOnly(NativeQueue queue, World world) {
        this.queue = queue;
        this.world = world;
    }

    private void check(String call) {
        Object caller = world.caller();
        if (lane == null) {
            lane = caller;
        } else if (lane != caller) {
            throw new Violation("301: " + call + " by another thread than the lane's");
        }
    }

    @Override
    public int depth() {
        return queue.depth();
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
    public void wake() {
        queue.wake();
    }

    @Override
    public void close() {
        queue.close();
    }
}
