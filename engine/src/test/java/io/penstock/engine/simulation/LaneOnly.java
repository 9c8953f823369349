// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
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
    public void enqueue(int id, Command command) {
        check("enqueue");
        queue.enqueue(id, command);
    }

    @Override
    public void cancel(int id) {
        check("cancel");
        queue.cancel(id);
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        check("turn");
        queue.turn(waitNanos, completions);
    }

    @Override
    public void wake() {
        queue.wake();
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return queue.failure(kind, result);
    }

    @Override
    public void close() {
        queue.close();
    }
}
