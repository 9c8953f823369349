// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.gma;

import io.penstock.DeviceFence;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.TransientStorageException;
import io.penstock.backend.opencl.cl.ClFence;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.BusMemory;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.memory.ClBuffers;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import reactor.core.publisher.Mono;

/**
 * GPU memory that other devices on the bus write to, by its bus addresses; resident from allocation. Transfers use
 * {@link io.penstock.Backend#wrap(long, long)} with its {@link #nativeHandle}.
 *
 * <p>A write by another device is one more kind of completion: a device writes its data, then a value to the marker. A
 * wait for that value completes when the data is there.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> the caller that allocates it closes it, once no other device writes to it any more. Waits in
 * progress keep the memory until they complete (rule 202).
 */
public final class BusAddressableBuffer implements AutoCloseable {

    private final long memory;
    private final long bytes;
    private final long surface;
    private final long marker;
    private final SignalWaits waits;

    private BusAddressableBuffer(long memory, long bytes, ByteBuffer addresses, SignalWaits waits) {
        this.memory = memory;
        this.bytes = bytes;
        this.surface = addresses.getLong(BusMemory.SURFACE_BUS_ADDRESS_OFFSET);
        this.marker = addresses.getLong(BusMemory.MARKER_BUS_ADDRESS_OFFSET);
        this.waits = waits;
    }

    /**
     * Allocates buffers in a context, each of which becomes a user of it, and makes them resident by one command.
     *
     * @param after fences that the command waits for on the device
     */
    static List<BusAddressableBuffer> allocate(ClContext context, long[] bytes, long flags, DeviceFence... after) {
        long[] memory = new long[bytes.length];
        int users = 0;
        try {
            for (int i = 0; i < memory.length; i++) {
                ClBuffers.check(context, bytes[i]);
                context.join();
                users++;
                int[] error = new int[1];
                memory[i] = OpenCl.clCreateBuffer(
                        context.handle(), flags | BusMemory.CL_MEM_BUS_ADDRESSABLE_AMD, bytes[i], 0, error);
                check(context, bytes[i], "clCreateBuffer", error[0]);
            }
            ByteBuffer addresses =
                    resident(context, memory, LongStream.of(bytes).sum(), after);
            List<BusAddressableBuffer> made = new ArrayList<>();
            for (int i = 0; i < memory.length; i++) {
                ByteBuffer own = addresses
                        .slice(i * BusMemory.BUS_ADDRESS_BYTES, BusMemory.BUS_ADDRESS_BYTES)
                        .order(ByteOrder.nativeOrder());
                made.add(new BusAddressableBuffer(memory[i], bytes[i], own, new SignalWaits(context, memory[i])));
            }
            return made;
        } catch (RuntimeException | Error e) {
            LongStream.of(memory).filter(one -> one != 0).forEach(OpenCl::clReleaseMemObject);
            for (; users > 0; users--) {
                context.leave();
            }
            throw e;
        }
    }

    private static ByteBuffer resident(ClContext context, long[] memory, long bytes, DeviceFence[] after) {
        int addressBytes = memory.length * BusMemory.BUS_ADDRESS_BYTES;
        ByteBuffer cells = ByteBuffer.allocateDirect(addressBytes + Long.BYTES).order(ByteOrder.nativeOrder());
        long addresses = NativeMemory.address(cells);
        long event = addresses + addressBytes;
        ByteBuffer list = ClFence.events(after);
        long waits = after.length == 0 ? 0 : NativeMemory.address(list);
        String call = "clEnqueueMakeBuffersResidentAMD";
        long queue = context.createQueue(0);
        try {
            check(
                    context,
                    bytes,
                    call,
                    BusMemory.clEnqueueMakeBuffersResidentAMD(
                            queue, memory.length, memory, 0, addresses, after.length, waits, event));
            ClFence fence = new ClFence(cells.getLong(addressBytes));
            if (OpenCl.clWaitForEvents(1, event) != OpenClError.SUCCESS) {
                // Refused, or the command has failed. Until it has ended, the memory and the cells are the device's:
                // poll.
                OpenCl.clFlush(queue);
                fence.signalled().toFuture().join();
            }
            int status = fence.state();
            fence.close();
            check(context, bytes, call, status < OpenCl.CL_COMPLETE ? status : OpenClError.SUCCESS);
            return cells;
        } finally {
            OpenCl.clReleaseCommandQueue(queue);
            Reference.reachabilityFence(list);
        }
    }

    private static void check(ClContext context, long bytes, String call, int code) {
        String request = "bus-addressable memory of " + bytes + " bytes on " + context.device();
        boolean full = code == OpenClError.MEM_OBJECT_ALLOCATION_FAILURE || code == OpenClError.OUT_OF_RESOURCES;
        if (!full) {
            OpenClFailure.check(request, call, code);
            return;
        }
        NativeError error = OpenClFailure.error(call, code);
        throw new TransientStorageException(
                request + " failed: the bus-addressable heap is full, which all applications share and the"
                        + " driver's settings size (about 96 MB on a FirePro W9100): " + error,
                new Failure(Outcome.NOT_STARTED, error),
                null);
    }

    /** Returns the length, in whole pages. */
    public long bytes() {
        return bytes;
    }

    /** Returns the cl_mem. */
    public long nativeHandle() {
        return memory;
    }

    /** Returns the bus address of its first byte. */
    public long surfaceAddress() {
        return surface;
    }

    /** Returns the bus address of its marker. */
    public long markerAddress() {
        return marker;
    }

    /**
     * Completes when another device has written {@code value}, or a higher one, to the marker.
     *
     * <p><b>Threading:</b> lazy; no device call before subscription, and {@code subscribe} never blocks. Each wait has
     * its own command queue, so that no command is queued behind it; at most 64 waits per buffer.
     *
     * <p><b>Errors:</b> {@link io.penstock.ClosedException} if the buffer is closed; {@link TransientStorageException}
     * if 64 waits are in progress; a {@link PenstockException} with the driver's answer.
     *
     * <p><b>Cancellation:</b> the subscriber is not notified any more; the device continues to wait, and keeps the
     * memory, until the value arrives.
     *
     * @param value 1 to 4294967295
     */
    public Mono<Void> waitSignal(long value) {
        SignalValue.check(value);
        return waits.waitFor(value);
    }

    /**
     * As {@link #waitSignal}, as a fence, which the caller closes; transfers wait for it on the device where possible.
     *
     * @throws io.penstock.ClosedException if the buffer is closed
     * @throws TransientStorageException if 64 waits of this buffer are in progress
     * @throws PenstockException with the driver's answer
     */
    public DeviceFence signal(long value) {
        SignalValue.check(value);
        return waits.fence(value);
    }

    @Override
    public void close() {
        waits.close();
    }

    @Override
    public String toString() {
        return "bus-addressable buffer of " + bytes + " bytes at bus address 0x" + Long.toHexString(surface);
    }
}
