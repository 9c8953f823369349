// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Penstock: reads of one size, one at a time, from some moment to the signal of the end. */
final class SmallReads implements Contender {

    /** The start of the measured time. */
    enum From {
        /** From {@code subscribe} to {@code onNext}. */
        SUBSCRIBE,
        /** From {@code subscribe} to the return of {@code block}; a run is as many bytes, not one read. */
        BLOCK,
        /** From reaching an event of the device, behind which the transfer starts: all of it counts. */
        FENCE,
        /** From the opening of a queue in which the copy is already enqueued: the device's part, and what follows. */
        QUEUE,
        /** The same, without a read: only the signal of the fence. */
        SIGNAL
    }

    private static final int FEWEST_BLOCKING = 200; // of one run
    private static final int MOST_BLOCKING = 10_000;
    private static final long MOST_BLOCKING_BYTES = 8L << 30;
    private static final Duration LIMIT = Duration.ofSeconds(DeviceWait.LIMIT_SECONDS);

    private final Device device;
    private final From from;
    private final long fileBytes;
    private final int bytes;
    private final int count; // of one run
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final Device.@Nullable Gate gate;
    private long lastOffset = -1;

    SmallReads(DeviceBench bench, Order order) throws IOException {
        device = bench.device;
        from = order.constant(From.class, "from", From.SUBSCRIBE);
        fileBytes = bench.bytes();
        bytes = (int) order.number("bytes", 4096);
        long most = Math.max(FEWEST_BLOCKING, Math.min(MOST_BLOCKING, MOST_BLOCKING_BYTES / bytes));
        count = from == From.BLOCK ? (int) most : bench.smallReads();
        backend = device.open(bench.options(order));
        file = backend.openFile(bench.hot, order.opened()).block();
        buffer = backend.allocate(bytes).block();
        gate = from == From.SUBSCRIBE || from == From.BLOCK ? null : device.gate();
    }

    @Override
    public Measure run(long nanos) throws Exception {
        device.poison(buffer.nativeHandle(), bytes);
        if (from != From.BLOCK) {
            return Measure.ofMedian(count, this::once, device::cpuNanos);
        }
        return Measure.of(
                () -> {
                    for (int i = 0; i < count; i++) {
                        once();
                    }
                    return (long) count * bytes;
                },
                device::cpuNanos);
    }

    @Override
    public Latency latency(long nanos) throws Exception {
        return Stopwatch.ofEach(count, this::once);
    }

    /** Returns the nanoseconds of one read. */
    private long once() throws Exception {
        if (gate != null) {
            return behind(gate);
        }
        Transfer read = read();
        long start = System.nanoTime();
        if (from == From.SUBSCRIBE) {
            return await(delivery(backend.submit(read))) - start;
        }
        if (backend.submit(read).block(LIMIT).bytes() != bytes) {
            throw new IOException("a short read");
        }
        return System.nanoTime() - start;
    }

    private long behind(Device.Gate shut) throws Exception {
        long handle = shut.shut();
        long took;
        if (from == From.QUEUE) {
            took = took(shut, backend.submit(read().on(shut.queue())));
        } else {
            try (DeviceFence fence = shut.fence(backend, handle)) {
                took = took(shut, from == From.SIGNAL ? fence.signalled() : backend.submit(read().after(fence)));
            }
        }
        shut.done();
        return took;
    }

    private static long took(Device.Gate gate, Mono<?> signal) throws Exception {
        CompletableFuture<Long> delivered = delivery(signal);
        gate.open();
        long at = await(delivered);
        return at - gate.opened();
    }

    /** Subscribes, and returns the time of the signal on the thread that delivers it. */
    private static CompletableFuture<Long> delivery(Mono<?> signal) {
        CompletableFuture<Long> delivered = new CompletableFuture<>();
        signal.subscribe(
                completion -> delivered.complete(System.nanoTime()),
                delivered::completeExceptionally,
                () -> delivered.complete(System.nanoTime()));
        return delivered;
    }

    private static long await(CompletableFuture<Long> delivered) throws Exception {
        return delivered.get(DeviceWait.LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    private Transfer read() {
        lastOffset = ThreadLocalRandom.current().nextLong(fileBytes / bytes) * bytes;
        return Transfer.read(file.region(lastOffset, bytes), buffer.all());
    }

    @Override
    public void verify() throws IOException {
        if (from != From.SIGNAL) {
            device.verify(buffer.nativeHandle(), 0, bytes, lastOffset);
        }
    }

    @Override
    public void close() throws IOException {
        if (gate != null) {
            gate.close();
        }
        file.close();
        buffer.close();
        backend.close();
    }
}
