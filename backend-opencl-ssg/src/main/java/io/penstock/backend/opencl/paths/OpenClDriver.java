// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.paths;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.FenceSupport;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.OpenClQueue;
import io.penstock.backend.opencl.cl.ClFence;
import io.penstock.backend.opencl.cl.Info;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.context.ClPoint;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.memory.ClBuffers;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.backend.opencl.memory.ClSpan;
import io.penstock.backend.opencl.ssg.ClSsg;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An OpenCL device: buffers in one context, in use until the device is closed. */
final class OpenClDriver implements DeviceDriver {

    private final ClContext context;
    private final @Nullable ClSsg ssg;
    private final Capabilities capabilities;

    /**
     * Takes over one use of a context.
     *
     * @param ssg owns the memory, and is closed with this; null if no path uses AMD's extension
     * @param paths the paths that transfers may take
     */
    OpenClDriver(ClContext context, @Nullable ClSsg ssg, Set<TransferPath> paths) {
        this.context = context;
        this.ssg = ssg;
        OpenClDevice device = context.device();
        this.capabilities = new Capabilities(
                device.name(),
                device.isHardware(),
                paths,
                FenceSupport.AFTER_STAGING,
                false,
                false,
                Set.of(context.toString()));
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        ClBuffers.check(context, bytes);
        return ssg == null
                ? ClBuffers.of(context).allocate(bytes)
                : ssg.memory().allocate(bytes);
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        ClSpan span = ClSpan.wrap(context, nativeHandle, bytes);
        return new ClMemory(context, span, bytes, span::release);
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException(
                "an OpenCL device cannot wrap host memory: wrap a cl_mem, or open backend host for " + memory);
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        int retained = nativeEvent == 0 ? OpenClError.INVALID_EVENT : OpenCl.clRetainEvent(nativeEvent);
        if (retained != OpenClError.SUCCESS) {
            throw new IllegalArgumentException("invalid cl_event 0x" + Long.toHexString(nativeEvent) + ": "
                    + OpenClFailure.error("clRetainEvent", retained));
        }
        try {
            flush(nativeEvent);
            return new ClFence(nativeEvent);
        } catch (RuntimeException | Error e) {
            OpenCl.clReleaseEvent(nativeEvent);
            throw e;
        }
    }

    @Override
    public boolean makes(DeviceFence fence) {
        return fence instanceof ClFence;
    }

    @Override
    public boolean makes(DeviceQueue queue) {
        return queue instanceof OpenClQueue;
    }

    @Override
    public @Nullable FencePoint fencePoint(Transfer transfer, boolean exposed) {
        OpenClQueue queue = (OpenClQueue) transfer.queue().orElse(null);
        if (queue == null) {
            boolean maybeAwaits = ssg != null && !transfer.after().isEmpty();
            return exposed || maybeAwaits ? new ClPoint(context, 0, exposed) : null;
        }
        if (queue.context() != context.handle()) {
            throw new IllegalArgumentException(
                    "the " + queue + " is of another cl_context, this backend uses the " + context);
        }
        if (!queue.isOrdered()) {
            throw new IllegalArgumentException("the " + queue + " is out of order, a transfer requires one in order");
        }
        return new ClPoint(context, queue.nativeHandle(), exposed);
    }

    /** An event in a queue that is never flushed is never signalled. */
    private static void flush(long event) {
        long queue = Info.event(event).word(OpenCl.CL_EVENT_COMMAND_QUEUE);
        if (queue != 0) { // as it is for user events
            OpenCl.clFlush(queue);
        }
    }

    @Override
    public void close() {
        if (ssg != null) {
            ssg.leave();
        }
        context.leave();
    }
}
