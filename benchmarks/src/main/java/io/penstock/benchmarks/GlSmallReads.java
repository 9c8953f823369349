// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/**
 * Penstock: a small read that waits for the application's drawing, or the signal of the fence behind it: measured from
 * the completion of the drawing.
 */
final class GlSmallReads implements Contender {

    static final int BLOCK = 4096;

    private static final long LIMIT_SECONDS = 30;

    private final String name;
    private final Plan plan;
    private final long blocks;
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final GlMemoryCheck memory = new GlMemoryCheck();
    private final GlGate gate = new GlGate();
    private long lastOffset = -1;

    /**
     * The operation to wait for.
     *
     * @param fenceOnly true for the fence itself; otherwise a read of a block behind it
     * @param count the number in one run
     */
    record Plan(boolean fenceOnly, int count, Path hot, long bytes) {}

    /**
     * Creates its resources.
     *
     * @param backend closed with this
     */
    GlSmallReads(String name, Backend backend, Plan plan) {
        this.name = name;
        this.plan = plan;
        this.blocks = plan.bytes() / BLOCK;
        this.backend = backend;
        file = backend.openFile(plan.hot(), FileOption.READ).block();
        buffer = backend.allocate(BLOCK).block();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        memory.poison(buffer.nativeHandle(), BLOCK);
        return Measure.ofMedian(plan.count(), this::once);
    }

    private long once() throws Exception {
        long took;
        try (DeviceFence drawn = backend.fence(gate.shut())) {
            if (plan.fenceOnly()) {
                took = took(drawn.signalled());
            } else {
                lastOffset = ThreadLocalRandom.current().nextLong(blocks) * BLOCK;
                Transfer read = Transfer.read(file.region(lastOffset, BLOCK), buffer.all());
                took = took(backend.submit(read.after(drawn)));
            }
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
        long at = delivered.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        return at - gate.opened();
    }

    @Override
    public void verify() throws IOException {
        if (!plan.fenceOnly()) {
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
