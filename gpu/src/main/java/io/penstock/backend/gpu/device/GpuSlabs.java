// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.device;

import io.penstock.PenstockException;
import io.penstock.TransientStorageException;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.engine.kit.ElasticCalls;
import io.penstock.engine.kit.IdleMemory;
import io.penstock.engine.kit.SharedContext;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * GPU memory of one context, kept for reuse: {@code cuMemFree} waits for all work on the GPU, so closing a small buffer
 * must not call it, and an I/O queue must never call it.
 *
 * <p>Sizes up to 1 MiB are powers of two from 4 KiB, several to a span of 2 MiB; larger sizes take whole spans. Memory
 * starts at a multiple of 4096, the alignment that file APIs handle best.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class GpuSlabs implements SharedContext.Part {

    public static final long SPAN_BYTES = 2L << 20;
    private static final int SMALLEST_SHIFT = 12;
    private static final int CLASSES = 9; // 4 KiB to 1 MiB

    /** Idle spans above this are freed. */
    private static final long MOST_IDLE_BYTES = 256L << 20;

    private record Part(GpuSpan span, long offset) {}

    private final GpuContext context;
    private final List<ArrayDeque<Part>> parts = new ArrayList<>(); // idle, by class
    private final IdleMemory<Long, GpuSpan> spans = new IdleMemory<>(MOST_IDLE_BYTES, GpuSpan::bytes); // by size

    private GpuSlabs(GpuContext context) {
        this.context = context;
        for (int i = 0; i < CLASSES; i++) {
            parts.add(new ArrayDeque<>());
        }
    }

    /** Returns the memory of a context. */
    static GpuSlabs of(GpuContext context) {
        return context.part(GpuSlabs.class, GpuSlabs::new);
    }

    /**
     * Allocates memory.
     *
     * @throws TransientStorageException if there is none left
     */
    GpuMemory allocate(long bytes) {
        context.join();
        try {
            return bytes <= SPAN_BYTES / 2 ? part(bytes) : whole(bytes);
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
    }

    private synchronized GpuMemory part(long bytes) {
        int size = classOf(bytes);
        ArrayDeque<Part> idle = parts.get(size);
        if (idle.isEmpty()) {
            GpuSpan span = take(SPAN_BYTES);
            for (long offset = 0; offset < SPAN_BYTES; offset += classBytes(size)) {
                idle.add(new Part(span, offset));
            }
        }
        Part part = idle.pop();
        part.span.parts++;
        return new GpuMemory(part.span, part.offset, bytes, () -> give(size, part));
    }

    private void give(int size, Part part) {
        synchronized (this) {
            part.span.parts--;
            parts.get(size).push(part);
        }
        context.leave();
    }

    private GpuMemory whole(long bytes) {
        long rounded = (bytes + SPAN_BYTES - 1) & -SPAN_BYTES;
        GpuSpan span;
        synchronized (this) {
            span = take(rounded);
        }
        return new GpuMemory(span, 0, bytes, () -> give(span));
    }

    private void give(GpuSpan span) {
        if (spans.keep(span.bytes(), span)) {
            context.leave();
            return;
        }
        // The last close of a buffer may happen on an I/O queue, and this call waits for the GPU.
        ElasticCalls.run(() -> {
            free(span);
            context.leave();
        });
    }

    private GpuSpan take(long bytes) {
        GpuSpan known = spans.take(bytes);
        if (known != null) {
            return known;
        }
        String request = "allocation of " + bytes + " bytes on " + context.gpu();
        try {
            return context.run(request, () -> allocate(request, bytes));
        } catch (TransientStorageException none) {
            // Idle memory of other sizes here may be what is missing.
            trim();
            return context.run(request, () -> allocate(request, bytes));
        }
    }

    private GpuSpan allocate(String request, long bytes) {
        long[] address = new long[1];
        context.driver().check(request, "memAlloc", context.driver().memAlloc(address, bytes));
        return new GpuSpan(context, address[0], bytes);
    }

    /** Frees idle spans. */
    synchronized void trim() {
        for (int size = 0; size < CLASSES; size++) {
            for (Part part : List.copyOf(parts.get(size))) {
                if (part.span.parts == 0) {
                    parts.get(size).remove(part);
                    if (part.offset == 0) {
                        free(part.span);
                    }
                }
            }
        }
        spans.drain(this::free);
    }

    private void free(GpuSpan span) {
        try {
            context.run("release of " + span.bytes() + " bytes", () -> {
                span.end(); // while the memory is still allocated
                return context.driver().memFree(span.address());
            });
        } catch (PenstockException lost) {
            // the context is gone, and its memory with it
        }
    }

    /** Frees everything; nothing is allocated after this. */
    @Override
    public void close() {
        trim();
    }

    private static int classOf(long bytes) {
        int ceilingLog2 = Long.SIZE - Long.numberOfLeadingZeros(Math.max(bytes, 1L << SMALLEST_SHIFT) - 1);
        return ceilingLog2 - SMALLEST_SHIFT;
    }

    private static long classBytes(int size) {
        return 1L << (SMALLEST_SHIFT + size);
    }
}
