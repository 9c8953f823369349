// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What the routes and the lane of one backend have in common of AMD's extension: what was said of it, and the ring.
 *
 * <p><b>Ownership:</b> the backend, its lane and its files count as users; the last to {@link #leave} frees all.
 */
final class SsgSession {

    private final GlContext context;
    private final SsgTokens tokens;
    private final SsgSizes sizes;
    private final SsgRing ring;
    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * Takes the ring's memory, and counts as a user of the context; on its thread.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    SsgSession(GlContext context, SsgTokens tokens, SsgSizes sizes) {
        this.context = context;
        this.tokens = tokens;
        this.sizes = sizes;
        this.ring = new SsgRing(context, sizes);
        if (ring.isAbsent()) {
            throw GlFailure.unavailable("the driver has no local visible memory left for one slot of a ring: "
                    + GlOptions.SSG_PIECE_BYTES + "=" + sizes.pieceBytes());
        }
        context.join();
    }

    GlContext context() {
        return context;
    }

    SsgTokens tokens() {
        return tokens;
    }

    SsgSizes sizes() {
        return sizes;
    }

    SsgRing ring() {
        return ring;
    }

    /** Allocates a buffer in visible memory, if there is some left; on the thread of the context. */
    @Nullable
    GlMemory allocate(long bytes) {
        return GlMemory.allocateVisible(context, bytes, sizes.visibleBytes());
    }

    /** Counts one more user; only while there is one. */
    void join() {
        users.incrementAndGet();
    }

    /** Counts one user less; the last frees all. */
    void leave() {
        if (users.decrementAndGet() == 0) {
            if (!context.postOrRun(ring::close)) {
                ring.close(); // GL's part of it went with the context
            }
            context.leave();
        }
    }
}
