// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.opencl.OpenClQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/**
 * Penstock: a small read whose copy is already enqueued, or a fence there, measured from the opening of the queue to
 * the signal.
 */
final class OpenClSmallReads implements Contender {

    static final int BLOCK = 4096;

    private static final long LIMIT_SECONDS = 30;

    private final String name;
    private final boolean fenceOnly;
    private final int count;
    private final long blocks;
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final OpenClMemory memory;
    private final OpenClGate gate;
    private final OpenClQueue queue;
    private long lastOffset = -1;

    /**
     * The operation to wait for.
     *
     * @param fenceOnly true for a fence behind the enqueued commands; otherwise a read of a block, whose copy is
     *     enqueued
     * @param count the number in one run
     */
    record Plan(boolean fenceOnly, int count, Path hot, long bytes) {}

    /**
     * Opens its resources.
     *
     * @param backend closed with this
     */
    OpenClSmallReads(String name, Backend backend, Plan plan) {
        this.name = name;
        this.fenceOnly = plan.fenceOnly();
        this.count = plan.count();
        this.blocks = plan.bytes() / BLOCK;
        this.backend = backend;
        file = backend.openFile(plan.hot(), FileOption.READ).block();
        buffer = backend.allocate(BLOCK).block();
        memory = new OpenClMemory(backend);
        gate = new OpenClGate(memory);
        queue = OpenClQueue.of(gate.queue);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        memory.poison(buffer.nativeHandle(), BLOCK);
        return Measure.ofMedian(count, this::once);
    }

    private long once() throws Exception {
        gate.shut();
        long took;
        if (fenceOnly) {
            try (DeviceFence fence = queue.fence()) {
                took = took(fence.signalled());
            }
        } else {
            lastOffset = ThreadLocalRandom.current().nextLong(blocks) * BLOCK;
            took = took(backend.submit(
                    Transfer.read(file.region(lastOffset, BLOCK), buffer.all()).on(queue)));
        }
        gate.done();
        return took;
    }

    /** Takes the time of the signal on the thread that delivers it. */
    private long took(Mono<?> signal) throws Exception {
        CompletableFuture<Long> delivered = new CompletableFuture<>();
        signal.subscribe(
                completion -> delivered.complete(System.nanoTime()),
                delivered::completeExceptionally,
                () -> delivered.complete(System.nanoTime()));
        long opened = gate.open();
        return delivered.get(LIMIT_SECONDS, TimeUnit.SECONDS) - opened;
    }

    @Override
    public void verify() throws IOException {
        if (!fenceOnly) {
            memory.verify(name, buffer.nativeHandle(), 0, BLOCK, lastOffset);
        }
    }

    @Override
    public void close() {
        gate.close();
        memory.close();
        file.close();
        buffer.close();
        backend.close();
    }
}
