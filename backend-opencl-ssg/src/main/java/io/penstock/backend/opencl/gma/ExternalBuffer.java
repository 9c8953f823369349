// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.gma;

import io.penstock.ClosedException;
import io.penstock.DeviceFence;
import io.penstock.Failure;
import io.penstock.backend.opencl.cl.ClFence;
import io.penstock.backend.opencl.cl.Flush;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.BusMemory;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Another device's memory as a target of this device: written by kernels through its cl_mem, and by copies on the
 * device. It is write-only and has no transfers: file data reaches it by a buffer of this device and a {@link #copy}.
 *
 * <p><b>Threading:</b> thread-safe; copies and signals execute in order.
 *
 * <p><b>Ownership:</b> the creator closes it, once no kernel writes to it any more. Copies and signals in progress keep
 * it (rule 202).
 */
public final class ExternalBuffer implements AutoCloseable {

    /** By bus address; kept, since the device keeps the value of a marker that no buffer is open over. */
    private static final Map<Long, Marker> MARKERS = new ConcurrentHashMap<>();

    private final ClContext context;
    private final Marker marker;
    private final long memory;
    private final long bytes;
    private final long queue;

    // Guarded by this.
    private final ByteBuffer cell = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    private boolean closed;

    private static final class Marker {
        long last; // the last value written; guarded by this
    }

    private ExternalBuffer(ClContext context, long marker, long memory, long bytes, long queue) {
        this.context = context;
        this.marker = MARKERS.computeIfAbsent(marker, address -> new Marker());
        this.memory = memory;
        this.bytes = bytes;
        this.queue = queue;
    }

    /** Creates a buffer in a context; the buffer becomes a user of the context. */
    static ExternalBuffer of(ClContext context, long surface, long marker, long bytes) {
        ByteBuffer addresses =
                ByteBuffer.allocateDirect(BusMemory.BUS_ADDRESS_BYTES).order(ByteOrder.nativeOrder());
        addresses.putLong(BusMemory.SURFACE_BUS_ADDRESS_OFFSET, surface);
        addresses.putLong(BusMemory.MARKER_BUS_ADDRESS_OFFSET, marker);
        int[] error = new int[1];
        context.join();
        long memory = OpenCl.clCreateBuffer(
                context.handle(),
                BusMemory.CL_MEM_EXTERNAL_PHYSICAL_AMD,
                bytes,
                NativeMemory.address(addresses),
                error);
        try {
            OpenClFailure.check(
                    "a buffer of " + bytes + " bytes at bus address 0x" + Long.toHexString(surface),
                    "clCreateBuffer",
                    error[0]);
            return new ExternalBuffer(context, marker, memory, bytes, context.createQueue(0));
        } catch (RuntimeException e) {
            if (error[0] == OpenClError.SUCCESS) {
                OpenCl.clReleaseMemObject(memory);
            }
            context.leave();
            throw e;
        } finally {
            Reference.reachabilityFence(addresses); // the driver reads it during the call
        }
    }

    /** Returns the length, in whole pages. */
    public long bytes() {
        return bytes;
    }

    /** Returns the cl_mem, for kernels to write to. */
    public long nativeHandle() {
        return memory;
    }

    /**
     * Copies bytes of a buffer of this device to the other device.
     *
     * @param source the cl_mem; must stay open until the copy has completed
     * @param from the offset in the source
     * @param to the offset in this buffer
     * @param length the number of bytes
     * @return a fence, signalled when the bytes have arrived; the caller closes it
     * @throws IndexOutOfBoundsException if the range exceeds this buffer
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public synchronized DeviceFence copy(long source, long from, long to, long length) {
        Objects.checkFromIndexSize(to, length, bytes);
        checkOpen("a copy");
        check(
                "a copy of " + length + " bytes to " + this,
                "clEnqueueCopyBuffer",
                OpenCl.clEnqueueCopyBuffer(queue, source, memory, from, to, length, 0, 0, NativeMemory.address(cell)));
        return flushed();
    }

    /**
     * Writes a value to the other device's marker, ordered after all earlier copies and signals and after
     * {@code after}: a wait for the value completes when what they wrote is there. The marker is at the address that
     * this buffer was created with: the offset that {@code clEnqueueWriteSignalAMD} takes is always 0. Values increase
     * per marker, whichever buffer writes them; signals of two buffers are in order only by {@code after}.
     *
     * @param value 1 to 4294967295, higher than all before, of any buffer of this process with the same marker
     * @param after fences of this device, each with a cl_event
     * @return a fence, signalled when the value has arrived; the caller closes it
     * @throws IllegalArgumentException if the value does not increase, which includes wrapping around, or a fence has
     * no cl_event
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public synchronized DeviceFence signal(long value, DeviceFence... after) {
        synchronized (marker) {
            SignalValue.checkRises(value, marker.last);
            checkOpen("signal " + value);
            ClFence written = write(value, after);
            marker.last = value;
            return written;
        }
    }

    private ClFence write(long value, DeviceFence... after) {
        ByteBuffer list = ClFence.events(after);
        try {
            check(
                    "signal " + value + " to " + this,
                    "clEnqueueWriteSignalAMD",
                    BusMemory.clEnqueueWriteSignalAMD(
                            queue,
                            memory,
                            (int) value,
                            0,
                            after.length,
                            after.length == 0 ? 0 : NativeMemory.address(list),
                            NativeMemory.address(cell)));
        } finally {
            Reference.reachabilityFence(list);
        }
        return flushed();
    }

    /**
     * As {@link #signal}, on subscription; completes when the value has arrived.
     *
     * <p><b>Cancellation:</b> the subscriber is not notified any more; a signal once enqueued is still written.
     */
    public Mono<Void> writeSignal(long value) {
        SignalValue.check(value);
        return Mono.using(() -> signal(value), fence -> fence.outcome().then(), DeviceFence::close)
                .publishOn(Schedulers.parallel());
    }

    private void checkOpen(String what) {
        if (closed) {
            throw new ClosedException(what + " failed: the buffer is closed", Failure.NOT_STARTED, null);
        }
    }

    private static void check(String request, String call, int answer) {
        OpenClFailure.check(request, call, answer);
    }

    private ClFence flushed() {
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
        // Commands that use them keep both.
        OpenCl.clReleaseCommandQueue(queue);
        OpenCl.clReleaseMemObject(memory);
        context.leave();
    }

    @Override
    public String toString() {
        return "external buffer of " + bytes + " bytes";
    }
}
