// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.gma;

import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.DeviceFence;
import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.BusMemory;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * AMD's DirectGMA on an OpenCL device: other devices on the PCIe bus write into its memory, and it writes into theirs,
 * without the host in between; signals report when data has arrived.
 *
 * <pre>{@code
 * try (DirectGma bus = DirectGma.open(options);
 *         BusAddressableBuffer frames = bus.allocate(64 * MIB)) {
 *     camera.writesTo(frames.surfaceAddress(), frames.markerAddress());
 *     DeviceBuffer buffer = backend.wrap(frames.nativeHandle(), frames.bytes());
 *     Mono<Completion> saved = backend.submit(Transfer.write(buffer.all(), file.all()).after(frames.signal(1)));
 * }
 * }</pre>
 *
 * <p>Transfers are pushes in both directions: the device that has the data writes it. Signal values increase.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> uses the same context as a backend with the same options, and keeps it until this object and its
 * buffers are closed.
 */
public final class DirectGma implements AutoCloseable {

    private final ClContext context;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DirectGma(ClContext context) {
        this.context = context;
    }

    /**
     * Opens DirectGMA on a device.
     *
     * @param options the options of the backend {@code opencl-ssg} that carries the transfers
     * @throws BackendUnavailableException if the device has no DirectGMA; the message has the reason
     */
    public static DirectGma open(Options options) {
        ClContext context = ClContext.open(options.resolve(Backends.options()));
        OpenClDevice device = context.device();
        String why = device.claims(BusMemory.EXTENSION)
                ? BusMemory.load(device.platform().handle())
                : "the device has no " + BusMemory.EXTENSION;
        if (!why.isEmpty()) {
            context.leave();
            throw new BackendUnavailableException("no DirectGMA on " + device + ": " + why, Failure.NOT_STARTED, null);
        }
        return new DirectGma(context);
    }

    /**
     * Allocates memory that other devices write to, and makes it resident.
     *
     * <p><b>Threading:</b> blocks until it is resident.
     *
     * @param bytes its size; rounded up to whole pages
     * @throws io.penstock.TransientStorageException if there is no room in the bus-addressable heap, which is far
     *     smaller than the device's memory
     */
    public BusAddressableBuffer allocate(long bytes) {
        return allocate(bytes, 0);
    }

    /**
     * As {@link #allocate(long)}, with flags.
     *
     * @param flags cl_mem_flags that bus-addressable memory may have; without {@code CL_MEM_COPY_HOST_PTR}, which the
     *     driver takes but for which there is no host pointer here: upload to the wrapped buffer instead
     * @throws IllegalArgumentException if a flag conflicts
     */
    public BusAddressableBuffer allocate(long bytes, long flags) {
        BusFlags.checkAddressable(flags);
        return BusAddressableBuffer.allocate(entered(), new long[] {BusFlags.wholePages(bytes)}, flags)
                .get(0);
    }

    /**
     * Allocates several buffers that other devices write to, and makes all resident by one command of the device.
     *
     * <p><b>Threading:</b> blocks until all are resident, and so until all of {@code after} are signalled.
     *
     * @param bytes the size of each; rounded up to whole pages
     * @param after fences of this device, each with a cl_event, that the device waits for first
     * @return one buffer for each length, each closed by the caller; none remains allocated if this throws
     * @throws IllegalArgumentException if the list is empty, or a fence has no cl_event
     * @throws io.penstock.TransientStorageException if there is no room for all in the bus-addressable heap
     * @throws io.penstock.PenstockException with the driver's answer, also if a fence fails
     */
    public List<BusAddressableBuffer> allocate(List<Long> bytes, DeviceFence... after) {
        if (bytes.isEmpty()) {
            throw new IllegalArgumentException("the list of lengths must not be empty");
        }
        long[] whole = bytes.stream().mapToLong(BusFlags::wholePages).toArray();
        return BusAddressableBuffer.allocate(entered(), whole, 0, after);
    }

    /**
     * Imports another device's memory as a buffer that kernels and copies on this device write to.
     *
     * @param surface the bus address of the memory, at a page's start
     * @param marker the bus address of the page with its marker, at a page's start
     * @param bytes the size of the memory; rounded up to whole pages
     * @throws IllegalArgumentException if an address is 0, or not at a page's start, or the marker lies in the memory,
     *     where a signal would overwrite data
     */
    public ExternalBuffer external(long surface, long marker, long bytes) {
        BusFlags.checkAddress("surface", surface);
        BusFlags.checkAddress("marker", marker);
        long whole = BusFlags.wholePages(bytes);
        BusFlags.checkApart(surface, whole, marker);
        return ExternalBuffer.of(entered(), surface, marker, whole);
    }

    /**
     * Copies between the buffers of two devices.
     *
     * @throws UnsupportedOperationException if the driver cannot
     */
    public PeerCopies peerCopies() {
        return PeerCopies.of(entered());
    }

    private ClContext entered() {
        if (closed.get()) {
            throw new IllegalStateException("DirectGMA on " + context.device() + " is closed");
        }
        return context;
    }

    /** Closes DirectGMA; its buffers stay open until they are closed. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            context.leave();
        }
    }

    @Override
    public String toString() {
        return "DirectGMA on " + context.device();
    }
}
