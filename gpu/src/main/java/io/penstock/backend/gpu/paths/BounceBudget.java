// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.engine.spi.Shared;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Accounts for the bounce buffers of the file API that this process uses in batches: segments of the cache on each GPU, and
 * the host memory slabs of the POSIX mode, which all GPUs share. A batch that needs more than a pool has does not fail;
 * it never completes. The process has one budget while a batch exists, and all queues take from it.
 *
 * <p>Waiting queues are served first come, first served: a queue takes nothing while another has waited longer. When
 * something is returned, the queue that has waited longest is woken.
 *
 * <p><b>Threading:</b> thread-safe; does not block.
 */
final class BounceBudget {

    /** cuFile's defaults, for versions that cannot be queried or where nothing is configured. */
    private static final long[] USUAL_SLAB_KILOBYTES = {4, 1024, 16_384};

    private static final long[] USUAL_SLAB_COUNTS = {128, 64, 64};
    private static final int MOST_SLAB_CLASSES = 8;

    private static final Shared<Object, BounceBudget> OPEN = new Shared<>(unused -> {});

    private final long segmentBytes;
    private final long mostSegments;
    private final long[] slabBytes; // ascending
    private final long[] mostSlabs;
    private final long[] slabs; // this and all below: guarded by this
    private final Map<Integer, long[]> segments = new HashMap<>(); // one number of each GPU
    private final ArrayDeque<Claim> waiting = new ArrayDeque<>();

    /** One queue's share of the budget. */
    final class Claim {

        private final Runnable wake;
        private final long[] ofGpu;
        private boolean waits;

        private Claim(long[] ofGpu, Runnable wake) {
            this.ofGpu = ofGpu;
            this.wake = wake;
        }

        /**
         * Takes what an operation of {@code bytes} may need. Returns false, and takes nothing, if it is not available
         * now or other queues have waited longer; the queue is woken to try again. An operation that needs more than
         * the whole pool runs alone.
         */
        boolean take(long bytes) {
            Claim next;
            synchronized (BounceBudget.this) {
                boolean first = waiting.isEmpty() || waiting.peek() == this;
                if (!first || !fits(bytes)) {
                    await();
                    return false;
                }
                ofGpu[0] += segments(bytes);
                int slab = slab(bytes);
                slabs[slab] += slabs(bytes, slab);
                next = stopWaiting();
            }
            wake(next);
            return true;
        }

        /** Frees what an operation of {@code bytes} took. */
        void give(long bytes) {
            Claim next;
            synchronized (BounceBudget.this) {
                ofGpu[0] -= segments(bytes);
                int slab = slab(bytes);
                slabs[slab] -= slabs(bytes, slab);
                next = waiting.peek();
            }
            wake(next);
        }

        /** Withdraws the queue from the waiting list. */
        void withdraw() {
            Claim next;
            synchronized (BounceBudget.this) {
                next = stopWaiting();
            }
            wake(next);
        }

        /** Closes the claim, which must have returned all that it took, and ends one use of the budget. */
        void end() {
            withdraw();
            OPEN.leave(BounceBudget.this);
        }

        private boolean fits(long bytes) {
            long needed = segments(bytes);
            int slab = slab(bytes);
            return (ofGpu[0] == 0 || ofGpu[0] + needed <= mostSegments)
                    && (slabs[slab] == 0 || slabs[slab] + slabs(bytes, slab) <= mostSlabs[slab]);
        }

        private void await() {
            if (!waits) {
                waits = true;
                waiting.add(this);
            }
        }

        /** Leaves the waiting list. Returns the new first claim if this one was first. */
        private @Nullable Claim stopWaiting() {
            if (!waits) {
                return null;
            }
            waits = false;
            boolean first = waiting.peek() == this;
            waiting.remove(this);
            return first ? waiting.peek() : null;
        }

        private void wake(@Nullable Claim other) {
            if (other != null && other != this) {
                other.wake.run();
            }
        }
    }

    BounceBudget(long segmentBytes, long mostSegments, long[] slabBytes, long[] mostSlabs) {
        this.segmentBytes = segmentBytes;
        this.mostSegments = mostSegments;
        this.slabBytes = slabBytes.clone();
        this.mostSlabs = mostSlabs.clone();
        this.slabs = new long[slabBytes.length];
    }

    /** Adds a user to the budget of the driver, which must be open. */
    static BounceBudget open(FileDriver driver) {
        return OPEN.open(driver, () -> of(driver.files(), driver.properties()));
    }

    /** Reads the pool sizes of the driver, which must be open. */
    static BounceBudget of(FileApi files, DriverProperties properties) {
        long segment = Math.max(1, properties.perBufferKilobytes()) << 10;
        long segments = Math.max(1, (properties.deviceCacheKilobytes() << 10) / segment);
        for (int classes = 1; classes <= MOST_SLAB_CLASSES; classes++) {
            long[] kilobytes = new long[classes];
            long[] counts = new long[classes];
            if (FileApi.error(files.getParameterPosixPoolSlabArray(kilobytes, counts, classes)) == FileApi.SUCCESS) {
                return new BounceBudget(segment, segments, bytes(kilobytes), counts);
            }
        }
        return new BounceBudget(segment, segments, bytes(USUAL_SLAB_KILOBYTES), USUAL_SLAB_COUNTS);
    }

    private static long[] bytes(long[] kilobytes) {
        long[] bytes = new long[kilobytes.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = kilobytes[i] << 10;
        }
        return bytes;
    }

    /**
     * Adds a queue to the budget.
     *
     * @param gpu the GPU whose cache its operations use
     * @param wake makes the queue try again; any thread, must not block
     */
    synchronized Claim claim(int gpu, Runnable wake) {
        return new Claim(segments.computeIfAbsent(gpu, ordinal -> new long[1]), wake);
    }

    private long segments(long bytes) {
        return (bytes + segmentBytes - 1) / segmentBytes;
    }

    private int slab(long bytes) {
        int slab = 0;
        while (slab < slabBytes.length - 1 && slabBytes[slab] < bytes) {
            slab++;
        }
        return slab;
    }

    private long slabs(long bytes, int slab) {
        return (bytes + slabBytes[slab] - 1) / slabBytes[slab];
    }
}
