// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.DeviceFence;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.PeerCopy;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Copies from the memory of one GPU to that of another, over the bus and past the host.
 *
 * <p><b>Threading:</b> thread-safe; copies stand in one order.
 *
 * <p><b>Ownership:</b> whoever makes it closes it; copies that are under way end by themselves.
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

    /** Makes some in a context, of which they become a user. */
    static PeerCopies of(ClContext context) {
        String why = PeerCopy.load(context.device().platform().handle());
        if (!why.isEmpty()) {
            throw new UnsupportedOperationException("no copies between devices: " + why);
        }
        context.join();
        try {
            return new PeerCopies(context);
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
    }

    /**
     * Copies.
     *
     * @param source a cl_mem of this device; stays open until the copy has ended, as the target does
     * @param from where in it
     * @param target a cl_mem of the other device's
     * @param to where in it
     * @param bytes how many
     * @return passed when the bytes are there; to be closed
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public synchronized DeviceFence copy(long source, long from, long target, long to, long bytes) {
        if (closed) {
            throw new IllegalStateException("these copies between devices are closed");
        }
        int answer = PeerCopy.clEnqueueCopyBufferP2PAMD(
                queue, source, target, from, to, bytes, 0, 0, NativeMemory.address(cell));
        OpenClFailure.check("a copy of " + bytes + " bytes to another device", "clEnqueueCopyBufferP2PAMD", answer);
        OpenCl.clFlush(queue);
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
