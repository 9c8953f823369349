// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import io.penstock.backend.dx11.device.CopyMark;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.memory.Dx11Memory;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A bounce buffer for the edges of transfers: a buffer of usage DEFAULT, as in the sample of AMD's manual, which the
 * processor cannot access. AMD's interface transfers between it and files, and device copies between it and other
 * buffers.
 *
 * <p><b>Threading:</b> the I/O queue and the executor use it alternately, except for allocating and freeing.
 */
final class SsgBounceBuffer extends Dx11Memory {

    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 16);

    private final CopyMark mark = new CopyMark();

    /** Offset from which it was left unwritten because a file ended; {@link #bytes} if none was. */
    private long cleared;

    /**
     * Allocates one.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    SsgBounceBuffer(Dx11Device device, long bytes) {
        super(device, bytes);
        cleared = bytes;
        try {
            device.ends().equip(mark);
        } catch (RuntimeException | Error e) {
            super.free();
            throw e;
        }
    }

    /** Records that a read filled it only up to {@code end}, since its file ended there. */
    void endsAt(long end) {
        cleared = end;
    }

    /**
     * Starts a copy between it and a buffer, and marks its position; called on the executor. Returns the failure, or
     * null.
     */
    @Nullable
    NativeFailure start(Request copy) {
        long buffer = copy.memory().nativeHandle();
        if (copy.isInward()) {
            cleared = bytes(); // a read uses only the bytes that it got
            device().copy(mark, buffer, copy.memoryOffset(), nativeHandle(), copy.stagingOffset(), copy.bytes());
        } else {
            clear();
            device().copy(mark, nativeHandle(), copy.stagingOffset(), buffer, copy.memoryOffset(), copy.bytes());
        }
        return device().ends().mark(mark);
    }

    /** Zeroes the bytes behind the end of a file. */
    private void clear() {
        while (cleared < bytes()) {
            long end = Math.min(bytes(), cleared + ZEROS.capacity());
            long box = mark.box(cleared, end);
            D3d11.UpdateSubresource(device().context(), nativeHandle(), 0, box, NativeMemory.address(ZEROS), 0, 0);
            cleared = end;
        }
    }

    /**
     * Polls the copy, on the executor; returns true if it has completed. {@link #failure} returns the reason if it
     * failed.
     */
    boolean poll() {
        return device().ends().poll(mark);
    }

    @Nullable
    NativeFailure failure() {
        return mark.failure();
    }

    @Override
    public void free() {
        device().ends().strip(mark);
        super.free();
    }
}
