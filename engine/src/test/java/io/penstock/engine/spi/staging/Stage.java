// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.Requests;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A queue over a fake device, with fillers and executor that own no thread: a test, or a seed, turns them. */
final class Stage {

    static final int SLOT = 16384;
    static final long SPIN_NANOS = 1;

    final FakeHost host;
    final FakeDevice device;
    final StagedQueue queue;
    final List<Filler> fillers = new ArrayList<>();
    final @Nullable ExecutorPump pump;
    final Requests requests = new Requests();
    final Random random;
    int hooks;

    Stage(ThreadRule rule, int fillerCount, int depth, long seed) {
        random = new Random(seed);
        host = new FakeHost(1 << 20, seed + 1);
        device = new FakeDevice(rule, host, seed + 2);
        SlotSizes sizes = new SlotSizes(SLOT, 2, 0, depth, SPIN_NANOS);
        FillerPool pool = FillerPool.stepped(fillerCount);
        pump = rule == ThreadRule.MANY ? null : new ExecutorPump(() -> hooks++);
        queue = new StagedQueue(device, host, sizes, pool, pump, null);
        for (int i = 0; i < fillerCount; i++) {
            fillers.add(new Filler(pool));
        }
    }

    void read(int id, NativeFile file, long offset, DeviceMemory memory, long memoryOffset, long bytes) {
        queue.enqueue(
                requests.next(id).file(Request.Kind.READ, file, offset, bytes).memory(memory, memoryOffset));
    }

    void write(int id, DeviceMemory memory, long memoryOffset, NativeFile file, long offset, long bytes) {
        queue.enqueue(
                requests.next(id).file(Request.Kind.WRITE, file, offset, bytes).memory(memory, memoryOffset));
    }

    /** One turn of the lane. */
    void turn() {
        queue.turn(0);
    }

    /** Lets fillers, and the executor, do what they can, without the lane. */
    boolean work() {
        boolean any = false;
        for (Filler filler : fillers) {
            any |= filler.turn(false);
        }
        if (pump != null) {
            any |= pump.run(0);
        }
        return any;
    }

    /** Lets fillers do what they can. */
    void fill() {
        while (fillers.stream().anyMatch(filler -> filler.turn(false))) {
            // again
        }
    }

    /** One step of whoever the seed says. */
    void step() {
        int who = random.nextInt(fillers.size() + 2);
        if (who < fillers.size()) {
            fillers.get(who).turn(false);
        } else if (who == fillers.size() && pump != null) {
            pump.run(0);
        } else {
            turn();
        }
    }

    /** Turns everything until {@code id} has ended, and returns its result. */
    long result(int id) {
        for (int i = 0; i < 1000 && !requests.hasEnded(id); i++) {
            turn();
            work();
        }
        return requests.result(id);
    }

    /** Turns everything until {@code id} has ended, and returns why it failed. */
    NativeFailure failure(int id) {
        result(id);
        return requests.failure(id).orElseThrow();
    }

    int freeSlots() {
        return queue.slots().free();
    }

    void close() {
        assertThat(freeSlots())
                .as("slots that came back")
                .isEqualTo(queue.slots().total());
        assertThat(device.running()).as("copies that run").isZero();
        queue.close();
        assertThat(host.allFreed()).as("slots were freed").isTrue();
    }
}
