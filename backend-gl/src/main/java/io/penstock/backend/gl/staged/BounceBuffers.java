// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.staged;

import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.memory.GlStagingBuffer;
import java.util.ArrayDeque;

/**
 * Mapped bounce buffers for copies between GL buffers and staging buffers that GL does not know: uploads, downloads and
 * the edges of blocks use plain memory, since allocating it must not wait for the context's thread.
 *
 * <p><b>Threading:</b> the context's thread.
 */
final class BounceBuffers {

    private static final int MOST_IDLE = 4;

    private final GlContext context;
    private final ArrayDeque<GlStagingBuffer> idle = new ArrayDeque<>();

    BounceBuffers(GlContext context) {
        this.context = context;
        context.atEnd(this::close);
    }

    /**
     * Takes a bounce buffer.
     *
     * @throws io.penstock.PenstockException with GL's error if there is no memory left
     */
    GlStagingBuffer take(long bytes) {
        GlStagingBuffer known = idle.poll();
        if (known != null && known.bytes() >= bytes) {
            return known;
        }
        if (known != null) {
            known.free();
        }
        return GlStagingBuffer.allocate(context, bytes, false);
    }

    void give(GlStagingBuffer staging) {
        if (idle.size() < MOST_IDLE) {
            idle.push(staging);
        } else {
            staging.free();
        }
    }

    private void close() {
        idle.forEach(GlStagingBuffer::free);
        idle.clear();
    }
}
