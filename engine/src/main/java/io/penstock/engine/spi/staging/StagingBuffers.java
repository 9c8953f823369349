// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.spi.DeviceMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The staging buffers of a queue, and the requests that wait for one. Requests wait for staging buffers, threads never
 * do: the thread that frees a staging buffer starts the next request, so nothing holds a staging buffer while waiting
 * for another (rule 304).
 *
 * <p>Thread-safe, except {@link #close}.
 */
final class StagingBuffers {

    private final List<StagingBuffer> all = new ArrayList<>();

    // A stack: the staging buffer used last is the warmest in the processor's caches.
    private final ConcurrentLinkedDeque<StagingBuffer> free = new ConcurrentLinkedDeque<>();
    private final Queue<StagedRequest> waiting;

    StagingBuffers(StagingDevice device, HostBytes host, int stagingBuffers, long bytes) {
        this(device, host, stagingBuffers, bytes, new ConcurrentLinkedQueue<>());
    }

    /** As above, with a test's queue of waiting requests. */
    StagingBuffers(StagingDevice device, HostBytes host, int stagingBuffers, long bytes, Queue<StagedRequest> waiting) {
        this.waiting = waiting;
        try {
            for (int i = 0; i < stagingBuffers; i++) {
                DeviceMemory memory = device.allocateStagingBuffer(bytes);
                all.add(new StagingBuffer(memory, host.of(memory)));
            }
        } catch (RuntimeException | Error e) {
            all.forEach(StagingBuffer::free);
            throw e;
        }
        free.addAll(all);
    }

    /** Assigns a staging buffer to the request, now or when one is free. */
    void assign(StagedRequest staged) {
        if (!staged.giveTo(StagedRequest.AWAITS_BUFFER)) {
            staged.queue.end(staged, StagedQueue.CANCELLED);
            return;
        }
        waiting.offer(staged);
        match();
    }

    /** Returns a staging buffer that the device and host I/O have released (rule 204). */
    void release(StagingBuffer staging) {
        free.push(staging);
        match();
    }

    /** Removes a request that was cancelled while it waited. */
    void remove(StagedRequest staged) {
        waiting.remove(staged);
    }

    private void match() {
        for (StagingBuffer staging = free.poll(); staging != null; staging = free.poll()) {
            StagedRequest staged = nextWaiting();
            if (staged != null) {
                staged.staging(staging);
                staged.queue.hand(staged);
            } else {
                free.push(staging);
                // Pairs with assign() on another thread, which may have found no staging buffer while this one held it.
                if (waiting.isEmpty()) {
                    return;
                }
            }
        }
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

    int free() {
        return free.size();
    }

    void close() {
        all.forEach(StagingBuffer::free);
    }
}
