// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.context;

import io.penstock.engine.kit.SharedContext;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The contexts of other GPUs whose memory a context's copies read without host memory in between, over NVLink or PCIe.
 * A driver allows that where {@code deviceCanAccessPeer} does, once {@code ctxEnablePeerAccess} was called; otherwise
 * {@code memcpyPeerAsync} goes through host memory.
 *
 * <p>Thread-safe.
 */
public final class PeerAccess implements SharedContext.Part {

    private final GpuContext context;
    private final Set<GpuContext> enabled = Collections.newSetFromMap(new WeakHashMap<>()); // guarded by itself

    private PeerAccess(GpuContext context) {
        this.context = context;
    }

    /** Returns the peer access of a context. */
    public static PeerAccess of(GpuContext context) {
        return context.part(PeerAccess.class, PeerAccess::new);
    }

    /** Returns whether memory of {@code other} can be read. Needs no context. */
    public boolean reaches(GpuContext other) {
        return other.driver() == context.driver()
                && (other.gpu().ordinal() == context.gpu().ordinal()
                        || context.gpu().reaches(context.driver(), other.gpu()));
    }

    /**
     * Enables the access where it is possible; on a thread on which this context is current. A refusal makes copies
     * slower, not wrong.
     */
    public void enable(GpuContext other) {
        boolean known;
        synchronized (enabled) {
            known = !enabled.add(other);
        }
        if (!known && other.gpu().ordinal() != context.gpu().ordinal() && reaches(other)) {
            context.driver().ctxEnablePeerAccess(other.handle(), 0);
        }
    }
}
