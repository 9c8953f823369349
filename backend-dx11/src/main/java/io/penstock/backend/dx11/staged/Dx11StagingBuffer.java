// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.staged;

import io.penstock.backend.dx11.device.CopyMark;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.memory.Dx11Memory;
import io.penstock.engine.kit.BufferPool;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A staging buffer that is mapped whenever the device does not copy from or to it, so that staging workers read files
 * directly into it. At most one copy per staging buffer is in flight: the state of a copy is allocated once, with the
 * staging buffer.
 *
 * <p><b>Threading:</b> {@link #map}, {@link #unmap} and the calls that concern a copy run on the executor; staging
 * workers access only the memory.
 */
public final class Dx11StagingBuffer implements DeviceMemory {

    /** Required by direct I/O; Direct3D guarantees 16. */
    private static final long ALIGNMENT = 4096;

    private static final int CELL_BYTES = 16; // D3D11_MAPPED_SUBRESOURCE

    private final Pool pool;
    private final Dx11Device device;
    private final long bytes;
    private final long buffer;
    private final ByteBuffer cell = ByteBuffer.allocateDirect(CELL_BYTES).order(ByteOrder.nativeOrder());
    private final long cellAddress = NativeMemory.address(cell);

    private final CopyMark mark = new CopyMark();

    /** The buffer of the copy, while the copy holds its lock. */
    @Nullable
    Dx11Memory copied;

    @Nullable
    Dx11Memory copiedFrom; // if from a buffer

    private int skip; // offset of the first aligned byte in the current mapping
    private boolean mapped;
    private volatile long address; // written by the executor, read by the users of the staging buffer

    /** The staging buffers of one device. */
    static final class Pool extends BufferPool<Long, Dx11StagingBuffer> {

        private final Dx11Device device;

        private Pool(Dx11Device device) {
            super(device, Dx11StagingBuffer::bytes);
            this.device = device;
        }

        /** Returns the staging buffers of a device. */
        static Pool of(Dx11Device device) {
            return device.part(Pool.class, Pool::new);
        }

        @Override
        protected Dx11StagingBuffer allocate(Long bytes) {
            return Dx11StagingBuffer.allocate(this, bytes);
        }

        @Override
        protected void release(Dx11StagingBuffer staging) {
            staging.release();
        }

        /** {@inheritDoc} One that a lost device did not remap has no memory. */
        @Override
        protected boolean isReusable(Dx11StagingBuffer staging) {
            return staging.isMapped();
        }
    }

    private Dx11StagingBuffer(Pool pool, long bytes, long buffer) {
        this.pool = pool;
        this.device = pool.device;
        this.bytes = bytes;
        this.buffer = buffer;
    }

    /**
     * Creates a staging buffer; not on the executor, which maps it.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    private static Dx11StagingBuffer allocate(Pool pool, long bytes) {
        Dx11Device device = pool.device;
        int access = D3d11.CPU_ACCESS_READ | D3d11.CPU_ACCESS_WRITE;
        int length = Math.toIntExact(bytes + ALIGNMENT);
        long[] buffer = new long[1];
        int[] description = {length, D3d11.USAGE_STAGING, 0, access, 0, 0};
        int result = D3d11.CreateBuffer(device.handle(), description, 0, buffer);
        String request = "allocation of a staging buffer of " + bytes + " bytes";
        device.check(request, "ID3D11Device::CreateBuffer", result);
        Dx11StagingBuffer staging = new Dx11StagingBuffer(pool, bytes, buffer[0]);
        try {
            device.ends().equip(staging.mark);
            try {
                int mapped = device.executor().call(request, staging::map);
                device.check(request, "ID3D11DeviceContext::Map", mapped);
            } catch (RuntimeException | Error e) {
                device.ends().strip(staging.mark);
                throw e;
            }
        } catch (RuntimeException | Error e) {
            Com.Release(buffer[0]);
            throw e;
        }
        return staging;
    }

    /** Frees it; no copy is in flight. */
    private void release() {
        if (mapped) {
            unmap();
        }
        device.ends().strip(mark);
        Com.Release(buffer);
    }

    /** Maps its memory for the processor, waiting for a copy in flight; returns the result of Direct3D. */
    int map() {
        int result = D3d11.Map(device.context(), buffer, 0, D3d11.MAP_READ_WRITE, 0, cellAddress);
        if (Hresult.failed(result)) {
            return result;
        }
        long first = cell.getLong(0);
        long aligned = (first + ALIGNMENT - 1) & -ALIGNMENT;
        if (address != 0 && aligned - first != skip) {
            NativeMemory.move(aligned, first + skip, bytes); // mapped at another address
        }
        skip = (int) (aligned - first);
        mapped = true;
        address = aligned;
        return result;
    }

    /** Unmaps its memory for the device. */
    void unmap() {
        mapped = false;
        D3d11.Unmap(device.context(), buffer, 0);
    }

    boolean isMapped() {
        return mapped;
    }

    /** Returns the offset in the native buffer of a byte of the staging buffer. */
    int inBuffer(long offset) {
        return (int) (skip + offset);
    }

    /** Returns the offset in the native buffer of a byte that is never of the staging buffer. */
    long spareByte() {
        return bytes + ALIGNMENT - 1; // an address is at most ALIGNMENT - 1 behind the first
    }

    CopyMark mark() {
        return mark;
    }

    /**
     * Returns the address of the cell for the mapping of another resource; valid only while the staging buffer itself
     * stays mapped.
     */
    long mappedCell() {
        return cellAddress;
    }

    /** Returns the address in {@link #mappedCell}. */
    long mappedElsewhere() {
        return cell.getLong(0);
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
        pool.give(this);
    }
}
