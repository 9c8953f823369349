// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.D3d11Buffer;
import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.D3d11Device;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.staging.ImageBoxes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A staging buffer that is mapped whenever the device does not copy from or to it, so that fillers read files right into
 * it. At most one copy of a slot is under way: what a copy needs beside it is made once, with the slot.
 *
 * <p><b>Threading:</b> {@link #map}, {@link #unmap} and everything that concerns a copy is the executor's; fillers touch
 * the memory only.
 */
final class Dx11Slot implements DeviceMemory {

    /** What host I/O past the page cache wants; Direct3D promises 16. */
    private static final long ALIGNMENT = 4096;

    private static final int MAPPED = 0; // D3D11_MAPPED_SUBRESOURCE
    private static final int DATA = 16; // BOOL
    private static final int BOX = 24; // D3D11_BOX
    private static final int CELL_BYTES = 48;

    private final Dx11Device device;
    private final long bytes;
    private final long buffer;
    private final ByteBuffer cells = ByteBuffer.allocateDirect(CELL_BYTES).order(ByteOrder.nativeOrder());
    private final long cellAddress = NativeMemory.address(cells);

    private final CopyMark mark = new CopyMark(cellAddress + DATA);

    /** The buffer of the copy, while it has the buffer's turn. */
    @Nullable
    Dx11Memory copied;

    private int skip; // from the start of the buffer to the first aligned byte, as it is mapped now
    private boolean mapped;
    private volatile long address; // written by the executor, read by whoever is given the slot

    private Dx11Slot(Dx11Device device, long bytes, long buffer) {
        this.device = device;
        this.bytes = bytes;
        this.buffer = buffer;
    }

    /**
     * Makes one; off the executor, which maps it.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    static Dx11Slot allocate(Dx11Device device, long bytes) {
        int access = D3d11Buffer.CPU_ACCESS_READ | D3d11Buffer.CPU_ACCESS_WRITE;
        int length = Math.toIntExact(bytes + ALIGNMENT);
        long[] buffer = new long[1];
        int[] description = {length, D3d11Buffer.USAGE_STAGING, 0, access, 0, 0};
        int result = D3d11Device.CreateBuffer(device.handle(), description, 0, buffer);
        String request = "allocation of a slot of " + bytes + " bytes";
        device.check(request, "ID3D11Device::CreateBuffer", result);
        Dx11Slot slot = new Dx11Slot(device, bytes, buffer[0]);
        try {
            device.ends().equip(slot.mark);
            try {
                int mapped = device.executor().call(slot::map);
                device.check(request, "ID3D11DeviceContext::Map", mapped);
            } catch (RuntimeException e) {
                device.ends().strip(slot.mark);
                throw e;
            }
        } catch (RuntimeException e) {
            Unknown.Release(buffer[0]);
            throw e;
        }
        return slot;
    }

    /** Gives it back; no copy is under way. */
    void release() {
        if (mapped) {
            unmap();
        }
        device.ends().strip(mark);
        Unknown.Release(buffer);
    }

    /** Makes its memory the processor's, waiting for a copy that is under way; returns what Direct3D answers. */
    int map() {
        int result =
                D3d11Context.Map(device.context(), buffer, 0, D3d11Context.MAP_READ_WRITE, 0, cellAddress + MAPPED);
        if (Hresult.failed(result)) {
            return result;
        }
        long first = cells.getLong(MAPPED);
        long aligned = (first + ALIGNMENT - 1) & -ALIGNMENT;
        if (address != 0 && aligned - first != skip) {
            NativeMemory.move(aligned, first + skip, bytes); // mapped elsewhere than before
        }
        skip = (int) (aligned - first);
        mapped = true;
        address = aligned;
        return result;
    }

    /** Makes its memory the device's. */
    void unmap() {
        mapped = false;
        D3d11Context.Unmap(device.context(), buffer, 0);
    }

    boolean isMapped() {
        return mapped;
    }

    long buffer() {
        return buffer;
    }

    /** Returns where in the buffer a byte of the slot is. */
    int inBuffer(long offset) {
        return (int) (skip + offset);
    }

    /** Returns the address of a box from {@code from} to {@code to}; good until the next is asked for. */
    long box(long from, long to) {
        cells.putInt(BOX, (int) from).putInt(BOX + 4, 0).putInt(BOX + 8, 0);
        cells.putInt(BOX + 12, (int) to).putInt(BOX + 16, 1).putInt(BOX + 20, 1);
        return cellAddress + BOX;
    }

    /** Returns the address of the box that an image is at; good until the next is asked for. */
    long box(Dx11Image image) {
        ImageBoxes size = image.boxes();
        int left = image.left();
        int top = image.top();
        int front = image.front();
        cells.putInt(BOX, left).putInt(BOX + 4, top).putInt(BOX + 8, front);
        cells.putInt(BOX + 12, left + size.columns());
        cells.putInt(BOX + 16, top + size.rows()).putInt(BOX + 20, front + size.slices());
        return cellAddress + BOX;
    }

    CopyMark mark() {
        return mark;
    }

    /** Returns the address of the cell that says where something else is mapped; only while the slot itself stays so. */
    long mappedCell() {
        return cellAddress + MAPPED;
    }

    /** Returns what {@link #mappedCell} says. */
    long mappedElsewhere() {
        return cells.getLong(MAPPED);
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long nativeHandle() {
        return buffer;
    }

    @Override
    public long hostAddress() {
        return address;
    }

    @Override
    public void free() {
        device.slots().give(this);
    }
}
