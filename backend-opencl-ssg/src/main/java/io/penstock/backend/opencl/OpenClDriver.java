// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An OpenCL device: buffers in one context, of which it is a user until it is closed. */
final class OpenClDriver implements DeviceDriver {

    private final ClContext context;
    private final Capabilities capabilities;

    /**
     * Takes over one use of a context.
     *
     * @param paths that transfers may take
     */
    OpenClDriver(ClContext context, Set<TransferPath> paths) {
        this.context = context;
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
        return context.memory().allocate(bytes);
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        String buffer = "the cl_mem 0x" + Long.toHexString(nativeHandle);
        try {
            check(buffer, nativeHandle, bytes);
        } catch (PenstockException unknown) {
            throw new IllegalArgumentException(unknown.getMessage(), unknown);
        }
        OpenClFailure.check("wrapping of " + buffer, "clRetainMemObject", OpenCl.clRetainMemObject(nativeHandle));
        ClSpan span = new ClSpan(nativeHandle, bytes, null);
        return new ClMemory(span, bytes, span::release);
    }

    private void check(String buffer, long handle, long bytes) {
        Info info = new Info(
                buffer,
                "clGetMemObjectInfo",
                (name, size, value, length) -> OpenCl.clGetMemObjectInfo(handle, name, size, value, length));
        if (info.number(OpenCl.CL_MEM_TYPE) != OpenCl.CL_MEM_OBJECT_BUFFER) {
            throw new IllegalArgumentException(buffer + " is an image, not a buffer");
        }
        if (info.word(OpenCl.CL_MEM_CONTEXT) != context.handle()) {
            throw new IllegalArgumentException(buffer + " is of another cl_context, and this backend is in the "
                    + context + ": see " + OpenClOptions.CONTEXT);
        }
        if (info.word(OpenCl.CL_MEM_SIZE) < bytes) {
            throw new IllegalArgumentException(
                    buffer + " has " + info.word(OpenCl.CL_MEM_SIZE) + " bytes, not " + bytes);
        }
        if ((info.word(OpenCl.CL_MEM_FLAGS) & OpenCl.CL_MEM_HOST_NO_ACCESS) != 0) {
            throw new IllegalArgumentException(
                    buffer + " was made with CL_MEM_HOST_NO_ACCESS: nothing can be copied into it from the host");
        }
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException(
                "an OpenCL device's buffers are its own: wrap a cl_mem, or open backend host for " + memory);
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        int retained = nativeEvent == 0 ? OpenClError.INVALID_EVENT : OpenCl.clRetainEvent(nativeEvent);
        if (retained != OpenClError.SUCCESS) {
            throw new IllegalArgumentException("OpenCL does not know the cl_event 0x" + Long.toHexString(nativeEvent)
                    + ": " + OpenClFailure.error("clRetainEvent", retained));
        }
        flush(nativeEvent);
        return new ClFence(nativeEvent);
    }

    @Override
    public @Nullable FencePoint fencePoint(Transfer transfer, boolean exposed) {
        QueuePlace place = QueuePlace.of(transfer);
        if (place == null) {
            return exposed ? new ClPoint(context, 0, true) : null;
        }
        if (place.context() != context.handle()) {
            throw new IllegalArgumentException("the cl_command_queue 0x" + Long.toHexString(place.queue())
                    + " is of another cl_context, and this backend is in the " + context);
        }
        return new ClPoint(context, place.queue(), exposed);
    }

    /** An event whose queue nobody flushes is never passed. */
    private static void flush(long event) {
        Info info = new Info(
                "the cl_event 0x" + Long.toHexString(event),
                "clGetEventInfo",
                (name, bytes, value, length) -> OpenCl.clGetEventInfo(event, name, bytes, value, length));
        long queue = info.word(OpenCl.CL_EVENT_COMMAND_QUEUE);
        if (queue != 0) { // as it is for user events
            OpenCl.clFlush(queue);
        }
    }

    @Override
    public void close() {
        context.leave();
    }
}
