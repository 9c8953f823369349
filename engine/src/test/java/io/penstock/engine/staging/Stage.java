// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Options;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.ThreadRule;
import io.penstock.engine.testing.Requests;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A queue over a fake device, with staging workers and executor that own no thread: a test, or a seed, turns them. */
final class Stage {

    static final int STAGING = 16384;
    static final int SPIN_MICROS = 1;

    final FakeHost host;
    final FakeDevice device;
    final StagedQueue queue;
    final List<StagingWorker> workers = new ArrayList<>();
    final @Nullable ExecutorPump pump;
    final Requests requests = new Requests();
    final Random random;
    int hooks;

    Stage(ThreadRule rule, int workerCount, int depth, long seed) {
        random = new Random(seed);
        host = new FakeHost(1 << 20, seed + 1);
        device = new FakeDevice(rule, host, seed + 2);
        Options options = StagingSettings.of(STAGING, 2, depth).with(StagingOptions.SPIN_MICROS, SPIN_MICROS);
        StagingWorkers pool = StagingWorkers.stepped(workerCount);
        pump = rule == ThreadRule.MANY ? null : new ExecutorPump(() -> hooks++);
        queue = new StagedQueue(device, host, options, pool, pump, null);
        for (int i = 0; i < workerCount; i++) {
            workers.add(new StagingWorker(pool, i));
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

    /** One turn of the I/O queue. */
    void turn() {
        queue.turn(0);
    }

    /** Lets staging workers, and the executor, do what they can, without the I/O queue. */
    boolean work() {
        boolean any = false;
        for (StagingWorker worker : workers) {
            any |= worker.turn(false);
        }
        if (pump != null) {
            any |= pump.run(0);
        }
        return any;
    }

    /** Lets staging workers do what they can. */
    void fill() {
        while (workers.stream().anyMatch(worker -> worker.turn(false))) {
            // again
        }
    }

    /** One step of whoever the seed says. */
    void step() {
        int who = random.nextInt(workers.size() + 2);
        if (who < workers.size()) {
            workers.get(who).turn(false);
        } else if (who == workers.size() && pump != null) {
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

    int freeBuffers() {
        return queue.stagingStates().size() - queue.stagingBuffersInUse();
    }

    void close() {
        assertThat(freeBuffers())
                .as("staging buffers that came back")
                .isEqualTo(queue.stagingStates().size());
        assertThat(device.running()).as("copies that run").isZero();
        queue.close();
        assertThat(host.allFreed()).as("staging buffers were freed").isTrue();
    }
}
