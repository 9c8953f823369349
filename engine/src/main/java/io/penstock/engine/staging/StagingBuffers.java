// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Backend.StagingState;
import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.kit.ffi.CpuSet;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The staging buffers of a queue, and the requests that wait for one. Requests wait for staging buffers, threads never
 * do: the thread that frees a staging buffer starts the next request, so nothing holds a staging buffer while waiting
 * for another (rule 304).
 *
 * <p>A request waits for a permit, of which there are as many as staging buffers, and takes its staging buffer when its
 * first step begins. So requests that wait for a thread occupy none, and the threads reuse the few that are in the
 * processor's caches: two GPUs are fed at twice the rate of one only if the memory in use stays within those caches.
 *
 * <p>Thread-safe, except {@link #close}.
 */
final class StagingBuffers {

    /**
     * The space of a staging buffer beyond its request. The blocks that enclose an unaligned range extend one block
     * further at each end; a packed pair is read up to one block ahead of its place.
     */
    private static final long SLACK_BYTES = 4 * StagingOptions.BLOCK_BYTES;

    private final List<StagingBuffer> all;

    // A stack: the staging buffer used last is the warmest in the processor's caches. Never empty for the holder of a
    // permit that has not taken its staging buffer: buffers are returned before permits, and each permit takes one.
    private final ConcurrentLinkedDeque<StagingBuffer> free;
    private final AtomicInteger permits;
    private final Queue<StagedRequest> waiting;
    private final Queue<StagedRequest> parked = new ConcurrentLinkedQueue<>(); // without permits, until resume()

    /**
     * Allocates the staging buffers.
     *
     * @param processors on which the device's memory is allocated
     * @param threads how many threads allocate: pinning takes long, and the first transfer waits for it
     */
    StagingBuffers(
            StagingDevice device, CpuSet processors, HostBytes host, int stagingBuffers, long bytes, int threads) {
        this(allocate(device, processors, host, stagingBuffers, bytes, threads), new ConcurrentLinkedQueue<>());
    }

    /** Pools buffers, with a test's queue of waiting requests. */
    StagingBuffers(List<StagingBuffer> all, Queue<StagedRequest> waiting) {
        this.all = all;
        this.free = new ConcurrentLinkedDeque<>(all);
        this.permits = new AtomicInteger(all.size());
        this.waiting = waiting;
    }

    /** Returns the bytes of a staging buffer for requests of up to {@code bufferBytes}. */
    static long allocatedBytes(long bufferBytes) {
        return bufferBytes + SLACK_BYTES;
    }

    /** Returns new staging buffers; if one cannot be allocated, frees the others. */
    static List<StagingBuffer> allocate(
            StagingDevice device, CpuSet processors, HostBytes host, int stagingBuffers, long bytes, int threads) {
        List<StagingBuffer> made = new CopyOnWriteArrayList<>();
        try {
            Parallel.run(stagingBuffers, threads, () -> {
                DeviceMemory memory = processors.call(() -> device.allocateStagingBuffer(bytes));
                made.add(new StagingBuffer(memory, host.of(memory)));
            });
            return made;
        } catch (RuntimeException | Error e) {
            made.forEach(StagingBuffer::free);
            throw e;
        }
    }

    /** Gives the request a permit, now or when one is free, and starts it. */
    void admit(StagedRequest staged) {
        if (!staged.giveTo(StagedRequest.AWAITS_BUFFER)) {
            staged.queue.end(staged, StagedQueue.CANCELLED);
            return;
        }
        waiting.offer(staged);
        match();
    }

    /** Returns a staging buffer to the holder of a permit, who has none yet. */
    StagingBuffer take() {
        return free.pop();
    }

    /**
     * Takes back a permit.
     *
     * @param staging the staging buffer that its holder took, which the device and host I/O have released (rule 204);
     *     null if it took none
     */
    void release(@Nullable StagingBuffer staging) {
        if (staging != null) {
            staging.state().setOpaque(StagingState.FREE);
            free.push(staging);
        }
        permits.incrementAndGet();
        match();
    }

    /** Removes a request that was cancelled while it waited. */
    void remove(StagedRequest staged) {
        if (!waiting.remove(staged)) {
            parked.remove(staged);
        }
    }

    /** Takes back the permit of a request, if it has one, and lets it wait for {@link #resume}. */
    void park(StagedRequest staged) {
        staged.releaseBuffer(this);
        parkWithoutPermit(staged);
    }

    private void parkWithoutPermit(StagedRequest staged) {
        StagedQueue queue = staged.queue;
        NativeFile file = staged.file();
        if (!staged.giveTo(StagedRequest.AWAITS_BUFFER)) {
            staged.queue.end(staged, StagedQueue.CANCELLED);
            return;
        }
        parked.offer(staged); // from here on it may be another request
        if (!queue.hangs(file)) { // pairs with resume(), which may have found none
            resume();
        }
    }

    /** Starts all parked requests; a request of a file that still hangs is parked again. */
    void resume() {
        List<StagedRequest> all = new ArrayList<>();
        for (StagedRequest staged = parked.poll(); staged != null; staged = parked.poll()) {
            all.add(staged);
        }
        for (StagedRequest staged : all) {
            if (staged.takeFrom(StagedRequest.AWAITS_BUFFER)) { // else it was cancelled
                if (staged.needsBuffer) {
                    admit(staged);
                } else {
                    staged.queue.hand(staged);
                }
            }
        }
    }

    private void match() {
        while (permit()) {
            StagedRequest staged = nextWaiting();
            if (staged != null && staged.queue.givesWay(staged)) {
                permits.incrementAndGet();
                parkWithoutPermit(staged);
            } else if (staged != null) {
                staged.permit();
                staged.queue.hand(staged);
            } else {
                permits.incrementAndGet();
                // Pairs with admit() on another thread, which may have found no permit while this one held it.
                if (waiting.isEmpty()) {
                    return;
                }
            }
        }
    }

    private boolean permit() {
        return permits.getAndUpdate(n -> n > 0 ? n - 1 : 0) > 0;
    }

    private @Nullable StagedRequest nextWaiting() {
        StagedRequest staged = waiting.poll();
        while (staged != null && !staged.takeFrom(StagedRequest.AWAITS_BUFFER)) {
            staged = waiting.poll();
        }
        return staged;
    }

    int total() {
        return all.size();
    }

    /** Returns how many permits are free. */
    int free() {
        return permits.get();
    }

    List<StagingState> states() {
        return all.stream().map(staging -> staging.state().getOpaque()).toList();
    }

    void close() {
        all.forEach(StagingBuffer::free);
    }
}
