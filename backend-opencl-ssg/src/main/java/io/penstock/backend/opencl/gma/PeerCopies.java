// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.gma;

import io.penstock.DeviceFence;
import io.penstock.backend.opencl.cl.ClFence;
import io.penstock.backend.opencl.cl.Flush;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.PeerCopy;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Copies from the memory of one GPU to the memory of another, over the bus, bypassing the host.
 *
 * <p><b>Threading:</b> thread-safe; copies execute in order.
 *
 * <p><b>Ownership:</b> the creator closes it; copies in progress still complete.
 */
public final class PeerCopies implements AutoCloseable {

    private final ClContext context;
    private final long queue;

    // Guarded by this.
    private final ByteBuffer cell = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    private boolean closed;

    private PeerCopies(ClContext context) {
        this.context = context;
        this.queue = context.createQueue(0);
    }

    /** Creates an instance in a context; the instance becomes a user of the context. */
    static PeerCopies of(ClContext context) {
        String why = PeerCopy.load(context.device().platform().handle());
        if (!why.isEmpty()) {
            throw new UnsupportedOperationException("no copies between devices: " + why);
        }
        context.join();
        try {
            return new PeerCopies(context);
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
    }

    /**
     * Copies bytes between the devices.
     *
     * @param source a cl_mem of this device; it and the target must stay open until the copy has completed
     * @param from the offset in the source
     * @param target a cl_mem of the other device
     * @param to the offset in the target
     * @param bytes the number of bytes
     * @return a fence, signalled when the bytes have arrived; the caller closes it
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public synchronized DeviceFence copy(long source, long from, long target, long to, long bytes) {
        if (closed) {
            throw new IllegalStateException("these copies between devices are closed");
        }
        int answer = PeerCopy.clEnqueueCopyBufferP2PAMD(
                queue, source, target, from, to, bytes, 0, 0, NativeMemory.address(cell));
        OpenClFailure.check("a copy of " + bytes + " bytes to another device", "clEnqueueCopyBufferP2PAMD", answer);
        Flush.orFinish(queue);
        return new ClFence(cell.getLong(0));
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        OpenCl.clReleaseCommandQueue(queue);
        context.leave();
    }
}
