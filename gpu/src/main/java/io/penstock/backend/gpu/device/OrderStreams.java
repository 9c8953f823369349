// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.device;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.engine.kit.SharedContext;
import java.util.ArrayDeque;

/**
 * Streams of one context that carry no copies, only fence waits for copies on other streams; a few are kept for reuse.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class OrderStreams implements SharedContext.Part {

    private static final int MOST_IDLE = 16;

    private final GpuContext context;
    private final ArrayDeque<Long> idle = new ArrayDeque<>();

    private OrderStreams(GpuContext context) {
        this.context = context;
    }

    /** Returns the streams of a context. */
    static OrderStreams of(GpuContext context) {
        return context.part(OrderStreams.class, OrderStreams::new);
    }

    /** Takes a stream; returns 0 if the driver cannot create one. The context must be current. */
    long take() {
        synchronized (this) {
            if (!idle.isEmpty()) {
                return idle.pop();
            }
        }
        long[] made = new long[1];
        return context.driver().streamCreate(made, DriverApi.STREAM_NON_BLOCKING) == DriverApi.SUCCESS ? made[0] : 0;
    }

    /** Puts a stream back; its waits must have completed. */
    void give(long stream) {
        synchronized (this) {
            if (idle.size() < MOST_IDLE) {
                idle.push(stream);
                return;
            }
        }
        context.attempt(() -> context.driver().streamDestroy(stream));
    }

    /** Frees idle streams; none is taken after this. */
    @Override
    public synchronized void close() {
        context.attempt(() -> {
            idle.forEach(context.driver()::streamDestroy);
            return DriverApi.SUCCESS;
        });
        idle.clear();
    }
}
