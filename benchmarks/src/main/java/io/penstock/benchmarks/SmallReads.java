// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.cufile.CudaStream;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/** Penstock: reads of 4 KiB, one at a time, from some moment to {@code onNext}. */
final class SmallReads implements Contender {

    /** The start of the measured time. */
    enum From {
        /** From {@code subscribe}. */
        SUBSCRIBE,
        /** From reaching an event of the device, behind which the transfer starts: all of it counts. */
        FENCE,
        /** From the opening of a stream in which the copy is already enqueued: the device's part, and what follows. */
        STREAM
    }

    private static final int BLOCK = 4096;
    private static final int MOST = 2000;
    private static final long SETTLE_NANOS = 100_000; // until a gated one has reached the device
    private static final long LIMIT_SECONDS = 30;

    private final String name;
    private final From from;
    private final long blocks;
    private final int count;
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final long gate;
    private long lastOffset = -1;

    SmallReads(String name, GpuBench bench, Options options, From from, FileOption... opened) throws IOException {
        this.name = name;
        this.from = from;
        this.blocks = bench.sizes().hotBytes() / BLOCK;
        this.count = count(bench);
        backend = Backends.open("cufile", options);
        file = backend.openFile(bench.hot(), opened).block();
        buffer = backend.allocate(BLOCK).block();
        gate = from == From.SUBSCRIBE ? 0 : GpuMemoryCheck.gate();
    }

    /** Returns the number of reads in one run. */
    static int count(GpuBench bench) {
        return Math.min(MOST, bench.sizes().blocks());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        GpuMemoryCheck.fill(buffer.nativeHandle(), BLOCK, GpuBench.POISON);
        return Measure.ofMedian(count, this::once, GpuMemoryCheck::cpuNanos);
    }

    private long once() throws Exception {
        lastOffset = ThreadLocalRandom.current().nextLong(blocks) * BLOCK;
        Transfer read = Transfer.read(file.region(lastOffset, BLOCK), buffer.all());
        return switch (from) {
            case SUBSCRIBE -> atOnce(read);
            case FENCE -> behindGate(read);
            case STREAM -> inStream(read);
        };
    }

    private long atOnce(Transfer read) throws Exception {
        Arrival arrival = new Arrival();
        long start = System.nanoTime();
        backend.submit(read).subscribe(arrival);
        return arrival.await() - start;
    }

    private long behindGate(Transfer read) throws Exception {
        Arrival arrival = new Arrival();
        try (DeviceFence fence = backend.fence(GpuMemoryCheck.closeGate(gate))) {
            backend.submit(read.after(fence)).subscribe(arrival);
            return openAndAwait(arrival);
        }
    }

    private long inStream(Transfer read) throws Exception {
        Arrival arrival = new Arrival();
        GpuMemoryCheck.closeGate(gate);
        CudaStream stream = CudaStream.of(GpuMemoryCheck.gateStream(gate));
        backend.submit(read.on(stream)).subscribe(arrival);
        return openAndAwait(arrival);
    }

    private long openAndAwait(Arrival arrival) throws Exception {
        long closed = System.nanoTime();
        while (System.nanoTime() - closed < SETTLE_NANOS) {
            Thread.onSpinWait(); // a sleep would take half as long again, and differ from one to the next
        }
        long opened = GpuMemoryCheck.openGate(gate);
        return arrival.await() - opened;
    }

    @Override
    public Latency latency(long nanos) throws Exception {
        return Stopwatch.ofEach(count, this::once);
    }

    @Override
    public void verify() throws IOException {
        long bad = GpuMemoryCheck.differences(buffer.nativeHandle(), BLOCK, lastOffset);
        if (bad != 0) {
            throw new IOException(name + ": " + bad + " wrong words");
        }
    }

    @Override
    public void close() throws IOException {
        if (gate != 0) {
            GpuMemoryCheck.freeGate(gate);
        }
        file.close();
        buffer.close();
        backend.close();
    }

    /** Takes the time of the signal on the thread that delivers it. */
    private static final class Arrival extends BaseSubscriber<Completion> {

        private final CountDownLatch ended = new CountDownLatch(1);
        private volatile long nanos;
        private volatile @Nullable Throwable failure;

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            subscription.request(1);
        }

        @Override
        protected void hookOnNext(Completion completion) {
            nanos = System.nanoTime();
            ended.countDown();
        }

        @Override
        protected void hookOnError(Throwable cause) {
            failure = cause;
            ended.countDown();
        }

        long await() throws Exception {
            if (!ended.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("a read of 4 KiB does not end");
            }
            Throwable cause = failure;
            if (cause != null) {
                throw new IOException("Penstock failed", cause);
            }
            return nanos;
        }
    }
}
