// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.kit.SharedContext;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The contexts of other GPUs whose memory a context's copies read without host memory in between, over NVLink or PCIe.
 * The CUDA Driver API allows that where {@code cuDeviceCanAccessPeer} does, once {@code cuCtxEnablePeerAccess} was
 * called; otherwise {@code cuMemcpyPeerAsync} goes through host memory.
 *
 * <p>Thread-safe.
 */
public final class PeerAccess implements SharedContext.Part {

    private final CudaContext context;
    private final Set<CudaContext> enabled = Collections.newSetFromMap(new WeakHashMap<>()); // guarded by itself

    private PeerAccess(CudaContext context) {
        this.context = context;
    }

    /** Returns the peer access of a context. */
    public static PeerAccess of(CudaContext context) {
        return context.part(PeerAccess.class, PeerAccess::new);
    }

    /** Returns whether memory of {@code other} can be read. Needs no context. */
    public boolean reaches(CudaContext other) {
        if (other.gpu().ordinal() == context.gpu().ordinal()) {
            return true;
        }
        int[] can = new int[1];
        return Cuda.cuDeviceCanAccessPeer(
                                can, context.gpu().device(), other.gpu().device())
                        == CudaError.SUCCESS
                && can[0] != 0;
    }

    /**
     * Enables the access where it is possible; on a thread on which this context is current. A refusal makes copies
     * slower, not wrong.
     */
    public void enable(CudaContext other) {
        boolean known;
        synchronized (enabled) {
            known = !enabled.add(other);
        }
        if (!known && other.gpu().ordinal() != context.gpu().ordinal() && reaches(other)) {
            Cuda.cuCtxEnablePeerAccess(other.handle(), 0);
        }
    }
}
