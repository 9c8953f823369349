// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/** A million transfers to a subscriber that requests a few at a time: neither memory nor cost may grow. */
final class SlowSubscriber implements Row {

    private static final int TRANSFERS = 1_000_000;
    private static final int QUARTER = TRANSFERS / 4;
    private static final int DEMAND = 64;
    private static final int DEPTH = 128;
    private static final long PAUSE_NANOS = 50_000;
    private static final double MIB = 1 << 20;

    private final Workload workload;
    private final Mode mode;

    SlowSubscriber(Workload workload, Mode mode) {
        this.workload = workload;
        this.mode = mode;
    }

    @Override
    public String name() {
        return "slow subscriber";
    }

    @Override
    public Report run(Settings settings, boolean busy) throws Exception {
        double[] growth = new double[settings.pairs()];
        double[] cost = new double[settings.pairs()];
        double cpuNanosEach = 0;
        try (Backend backend = mode.open(PenstockHost.QUEUE_DEPTH);
                StorageFile file = backend.openFile(workload.file()).block();
                DeviceBuffer buffer =
                        backend.allocate((long) DEPTH * workload.blockBytes()).block()) {
            quarters(backend, file, buffer); // warm-up
            for (int pair = 0; pair < growth.length; pair++) {
                Quarters quarters = quarters(backend, file, buffer);
                growth[pair] = (quarters.heap[4] - quarters.heap[1]) / MIB;
                cost[pair] = quarters.cpu(4) / quarters.cpu(1);
                cpuNanosEach = quarters.cpu(4) / QUARTER;
            }
        }
        String detail = String.format(Locale.ROOT, "%,d transfers, last against first quarter", TRANSFERS);
        String cpu = String.format(Locale.ROOT, "%s, %.0f ns of CPU each", detail, cpuNanosEach);
        return Report.of(List.of(
                Result.of("slow subscriber: heap grown", mode.toString(), growth, 1, false, "MiB", detail, busy),
                Result.of("slow subscriber: cost", mode.toString(), cost, 1.1, false, "x", cpu, busy)));
    }

    private Quarters quarters(Backend backend, StorageFile file, DeviceBuffer buffer) throws Exception {
        Quarters quarters = new Quarters();
        BufferRegion[] regions = new BufferRegion[DEPTH];
        for (int i = 0; i < DEPTH; i++) {
            regions[i] = buffer.region((long) i * workload.blockBytes(), workload.blockBytes());
        }
        quarters.mark(0);
        backend.submit(
                        Flux.range(0, TRANSFERS)
                                .map(i -> Transfer.read(
                                        file.region(workload.offset(0), workload.blockBytes()),
                                        regions[ThreadLocalRandom.current().nextInt(DEPTH)])),
                        SubmitOptions.DEFAULT.inFlight(DEPTH))
                .subscribe(quarters);
        quarters.requestAll();
        return quarters;
    }

    /** Requests a few at a time, from its own thread, and records the state at every quarter. */
    private static final class Quarters extends BaseSubscriber<Completion> {

        private final long[] heap = new long[5];
        private final long[] cpuNanos = new long[5];
        private final long[] gcNanos = new long[5];
        private final AtomicLong received = new AtomicLong();

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            // requestAll() does it
        }

        @Override
        protected void hookOnNext(Completion completion) {
            received.lazySet(received.getPlain() + 1);
        }

        void requestAll() {
            for (long requested = DEMAND; requested - DEMAND < TRANSFERS; requested += DEMAND) {
                request(DEMAND);
                while (received.get() < Math.min(requested, TRANSFERS)) {
                    if (isDisposed() && received.get() < Math.min(requested, TRANSFERS)) {
                        throw new IllegalStateException("Penstock has ended after " + received + " transfers");
                    }
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                if (requested / QUARTER > (requested - DEMAND) / QUARTER) {
                    mark((int) (requested / QUARTER));
                }
            }
        }

        /** Only the read-ahead of the stream runs now, so the heap in use is its own. */
        void mark(int quarter) {
            cpuNanos[quarter] = Measure.processCpuNanos();
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            heap[quarter] = runtime.totalMemory() - runtime.freeMemory();
            gcNanos[quarter] = Measure.processCpuNanos() - cpuNanos[quarter];
        }

        double cpu(int quarter) {
            return cpuNanos[quarter] - cpuNanos[quarter - 1] - gcNanos[quarter - 1];
        }
    }
}
