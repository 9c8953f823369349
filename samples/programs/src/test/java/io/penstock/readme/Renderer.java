// SPDX-License-Identifier: Apache-2.0
package io.penstock.readme;

import io.penstock.Chunk;
import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.HostView;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import reactor.core.publisher.Mono;

/**
 * A device as slow as the samples assume: it reads a chunk only when the function has long returned and the next chunk
 * is there, or the stream has been given up.
 */
public final class Renderer implements AutoCloseable {

    private final long chunks;
    private final Runnable cancel; // or null
    private final ExecutorService device = Executors.newSingleThreadExecutor(task -> new Thread(task, "a slow device"));
    private final Map<Long, CountDownLatch> drawn = new ConcurrentHashMap<>();
    private final List<CompletableFuture<Void>> fences = new ArrayList<>();
    private final CRC32 sum = new CRC32(); // device thread only
    private boolean cancelled; // guarded by this
    private final AtomicLong frames = new AtomicLong();

    /**
     * Makes one.
     *
     * @param chunks how many there will be
     * @param cancel what cancels the sample when the second is drawn, or null
     */
    public Renderer(long chunks, Runnable cancel) {
        this.chunks = chunks;
        this.cancel = cancel;
    }

    /** Has the device read a chunk, later. */
    public synchronized DeviceFence draw(Chunk chunk) {
        if (cancelled) {
            return new Fence(CompletableFuture.completedFuture(null)); // drawn while the cancel was on its way
        }
        latch(chunk.index()).countDown();
        HostView view = chunk.view();
        CountDownLatch next = latch(chunk.index() + 1);
        boolean last = chunk.index() + 1 == chunks;
        CompletableFuture<Void> passed = CompletableFuture.runAsync(() -> read(view, last ? null : next), device);
        fences.add(passed);
        if (cancel != null && chunk.index() == 1) {
            giveUp(); // there may be no next chunk
            // Done before the cancel: a backend that is closed with a lease held frees its memory under the device.
            fences.forEach(CompletableFuture::join);
            cancelled = true;
            cancel.run();
        }
        return new Fence(passed);
    }

    private CountDownLatch latch(long chunk) {
        return drawn.computeIfAbsent(chunk, index -> new CountDownLatch(1));
    }

    private void read(HostView view, CountDownLatch next) {
        try {
            if (next != null) {
                next.await();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) view.length());
        view.read(0, bytes); // throws if the lease has ended before the fence
        sum.update(bytes.flip());
    }

    /** Returns the next frame. */
    public Frame frame() {
        return new Frame(frames.getAndIncrement());
    }

    private void giveUp() {
        for (long chunk = 0; chunk <= chunks; chunk++) {
            latch(chunk).countDown();
        }
    }

    /** Returns how many frames were asked for. */
    public long frames() {
        return frames.get();
    }

    /** Waits for the device, and returns the sum of the bytes that it has read; throws what the device met. */
    public long sum() {
        fences.forEach(CompletableFuture::join);
        return sum.getValue();
    }

    @Override
    public void close() {
        device.shutdownNow();
    }

    private record Fence(CompletableFuture<Void> passed) implements DeviceFence {

        @Override
        public boolean isSignalled() {
            return passed.isDone();
        }

        @Override
        public Mono<Void> signalled() {
            return Mono.fromFuture(passed, true).onErrorResume(e -> Mono.empty());
        }

        @Override
        public Mono<Completion> outcome() {
            return Mono.empty();
        }

        @Override
        public long nativeHandle() {
            return 0;
        }

        @Override
        public void close() {}
    }
}
