// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
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
 * Penstock: a small read that waits for the device, or the signal of a fence there: measured from the moment at which
 * the device continues.
 */
abstract class DeviceSmallReads implements Contender {

    static final int BLOCK = 4096;

    private static final long LIMIT_SECONDS = 30;

    /**
     * The operation to wait for.
     *
     * @param fenceOnly true for a fence itself; otherwise a read of a block
     * @param count the number in one run
     */
    record Plan(boolean fenceOnly, int count, Path hot, long bytes) {}

    final Plan plan;
    final Backend backend;
    private final String name;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final DeviceCheck memory;
    private long lastOffset = -1;

    /** Opens its resources; {@code backend} and {@code memory} are closed with this. */
    DeviceSmallReads(String name, Backend backend, DeviceCheck memory, Plan plan) {
        this.name = name;
        this.plan = plan;
        this.backend = backend;
        this.memory = memory;
        file = backend.openFile(plan.hot(), FileOption.READ).block();
        buffer = backend.allocate(BLOCK).block();
    }

    /** Returns the nanoseconds of one operation. */
    abstract long once() throws Exception;

    /** Returns the read of a random block. */
    final Transfer read() {
        lastOffset = ThreadLocalRandom.current().nextLong(plan.bytes() / BLOCK) * BLOCK;
        return Transfer.read(file.region(lastOffset, BLOCK), buffer.all());
    }

    /** Subscribes, and returns the time of the signal on the thread that delivers it. */
    static CompletableFuture<Long> delivery(Mono<?> signal) {
        CompletableFuture<Long> delivered = new CompletableFuture<>();
        signal.subscribe(
                completion -> delivered.complete(System.nanoTime()),
                delivered::completeExceptionally,
                () -> delivered.complete(System.nanoTime()));
        return delivered;
    }

    /** Waits for the time of a signal. */
    static long await(CompletableFuture<Long> delivered) throws Exception {
        return delivered.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final Measure run(long nanos) throws Exception {
        memory.poison(buffer.nativeHandle(), BLOCK);
        return Measure.ofMedian(plan.count(), this::once);
    }

    @Override
    public final Latency latency(long nanos) throws Exception {
        return Stopwatch.ofEach(plan.count(), this::once);
    }

    @Override
    public final void verify() throws IOException {
        if (!plan.fenceOnly()) {
            memory.verify(name, buffer.nativeHandle(), 0, BLOCK, lastOffset);
        }
    }

    @Override
    public void close() {
        memory.close();
        file.close();
        buffer.close();
        backend.close();
    }
}
