// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.D3d11Buffer;
import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.D3d11Device;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A slot for the edges of transfers: a buffer of usage DEFAULT, as AMD's manual has it in its sample, which the processor
 * does not reach. Files go to and from it by AMD's interface, its bytes to and from other buffers by copies of the device's.
 *
 * <p><b>Threading:</b> the lane and the executor take turns, but for making and freeing.
 */
final class SsgSlot implements DeviceMemory {

    static final AtomicLong LIVE = new AtomicLong();

    private static final int BOX = 8; // D3D11_BOX
    private static final int CELL_BYTES = BOX + 6 * Integer.BYTES;
    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 16);

    private final Dx11Ssg ssg;
    private final long buffer;
    private final long bytes;
    private final ByteBuffer cells = ByteBuffer.allocateDirect(CELL_BYTES).order(ByteOrder.nativeOrder());
    private final long address = NativeMemory.address(cells);
    private final CopyMark mark = new CopyMark(address);

    /** From where on a file that ended has left it as it was; {@code bytes} where none has. */
    private long cleared;

    private SsgSlot(Dx11Ssg ssg, long buffer, long bytes) {
        this.ssg = ssg;
        this.buffer = buffer;
        this.bytes = bytes;
        this.cleared = bytes;
    }

    /**
     * Makes one.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    static SsgSlot allocate(Dx11Ssg ssg, long bytes) {
        Dx11Device device = ssg.device();
        int[] description = {
            Math.toIntExact(bytes),
            D3d11Buffer.USAGE_DEFAULT,
            D3d11Buffer.BIND_SHADER_RESOURCE,
            0,
            D3d11Buffer.MISC_ALLOW_RAW_VIEWS,
            0
        };
        long[] buffer = new long[1];
        int result = D3d11Device.CreateBuffer(device.handle(), description, 0, buffer);
        device.check("allocation of a slot of " + bytes + " bytes", "ID3D11Device::CreateBuffer", result);
        SsgSlot slot = new SsgSlot(ssg, buffer[0], bytes);
        try {
            device.ends().equip(slot.mark);
        } catch (RuntimeException e) {
            Unknown.Release(buffer[0]);
            throw e;
        }
        ssg.join();
        LIVE.incrementAndGet();
        return slot;
    }

    /** Says that a read filled it up to {@code end} only, since its file ended there. */
    void endsAt(long end) {
        cleared = end;
    }

    /** Has what lies behind the end of a file read as zeros; the executor's. */
    private void clear(long context) {
        while (cleared < bytes) {
            long end = Math.min(bytes, cleared + ZEROS.capacity());
            box(cleared, end);
            D3d11Context.UpdateSubresource(context, buffer, 0, address + BOX, NativeMemory.address(ZEROS), 0, 0);
            cleared = end;
        }
    }

    /** Starts a copy to a buffer, and marks its place; the executor's. Returns as {@link CopyEnds#mark}. */
    @Nullable
    NativeFailure copyTo(long target, long targetOffset, long offset, long length) {
        Dx11Device device = ssg.device();
        cleared = bytes; // a read looks at what it got only
        box(offset, offset + length);
        D3d11Context.CopySubresourceRegion(
                device.context(), target, 0, (int) targetOffset, 0, 0, buffer, 0, address + BOX);
        return device.ends().mark(mark);
    }

    /** As {@link #copyTo}, from a buffer. */
    @Nullable
    NativeFailure copyFrom(long source, long sourceOffset, long offset, long length) {
        Dx11Device device = ssg.device();
        clear(device.context());
        box(sourceOffset, sourceOffset + length);
        D3d11Context.CopySubresourceRegion(device.context(), buffer, 0, (int) offset, 0, 0, source, 0, address + BOX);
        return device.ends().mark(mark);
    }

    /** Looks whether the copy has ended; the executor's. Returns as {@link CopyEnds#look}, and {@link #failure} says why not. */
    boolean look() {
        return ssg.device().ends().look(mark);
    }

    @Nullable
    NativeFailure failure() {
        return mark.failure;
    }

    private void box(long from, long to) {
        cells.putInt(BOX, (int) from).putInt(BOX + 4, 0).putInt(BOX + 8, 0);
        cells.putInt(BOX + 12, (int) to).putInt(BOX + 16, 1).putInt(BOX + 20, 1);
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
        return 0;
    }

    @Override
    public void free() {
        ssg.device().ends().strip(mark);
        Unknown.Release(buffer);
        LIVE.decrementAndGet();
        ssg.leave();
    }
}
