// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The arguments of stream operations, which the file API takes by address and reads when the stream reaches them, the count
 * that it writes, and a word that the stream writes once it is past the operation. Pinned, since the GPU writes the
 * word; an operation owns its cells until the word is written.
 *
 * <p>The I/O thread only, on the host's side.
 */
final class StreamCells {

    private static final int BYTES = 64;
    private static final int SIZE = 0;
    private static final int FILE_OFFSET = 8;
    private static final int BUFFER_OFFSET = 16;
    private static final int COUNT = 24;
    private static final int MARK = 32;

    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final DriverApi driver;
    private final long address;
    private final long device; // its GPU address; 0 if it has none
    private final ByteBuffer view;

    private StreamCells(DriverApi driver, long address, long device, int operations) {
        this.driver = driver;
        this.address = address;
        this.device = device;
        this.view = NativeMemory.view(address, (long) operations * BYTES);
    }

    /**
     * Allocates cells; a context must be current.
     *
     * @throws io.penstock.PenstockException if no memory can be pinned
     */
    static StreamCells allocate(DriverApi driver, int operations) {
        long bytes = (long) operations * BYTES;
        long[] address = new long[1];
        int flags = DriverApi.HOST_PORTABLE | DriverApi.HOST_MAPPED;
        int result = driver.memHostAlloc(address, bytes, flags);
        driver.check("pinning of " + bytes + " bytes", "memHostAlloc", result);
        NativeMemory.fill(address[0], bytes, (byte) 0);
        long[] device = new long[1];
        boolean mapped = driver.memHostGetDevicePointer(device, address[0], 0) == DriverApi.SUCCESS;
        return new StreamCells(driver, address[0], mapped ? device[0] : 0, operations);
    }

    /** Fills the cells of an operation, count and word included. */
    void write(CallTask task, long bufferOffset) {
        int at = task.tag * BYTES;
        view.putLong(at + SIZE, task.rest());
        view.putLong(at + FILE_OFFSET, task.restOffset());
        view.putLong(at + BUFFER_OFFSET, bufferOffset);
        view.putLong(at + COUNT, 0); // as cufile.h requires
        INTS.setRelease(view, at + MARK, 0);
    }

    long size(int id) {
        return address + (long) id * BYTES + SIZE;
    }

    long fileOffset(int id) {
        return address + (long) id * BYTES + FILE_OFFSET;
    }

    long bufferOffset(int id) {
        return address + (long) id * BYTES + BUFFER_OFFSET;
    }

    long countAddress(int id) {
        return address + (long) id * BYTES + COUNT;
    }

    /** Makes the stream write the word when it gets there; returns false if it cannot. */
    boolean mark(int id, long stream) {
        return device != 0
                && driver.streamWriteValue32(stream, device + (long) id * BYTES + MARK, 1, 0) == DriverApi.SUCCESS;
    }

    /** Returns true if the stream has written the word. */
    boolean isMarked(int id) {
        return (int) INTS.getAcquire(view, id * BYTES + MARK) != 0;
    }

    /** Returns the size of the operation as the stream found it; valid only once the stream is past it. */
    long sizeFound(int id) {
        return view.getLong(id * BYTES + SIZE);
    }

    /** Returns the count of the operation; valid only once the stream is past it. */
    long count(int id) {
        return view.getLong(id * BYTES + COUNT);
    }

    /** Frees them; the streams must have completed everything. */
    void free() {
        driver.memFreeHost(address);
    }
}
