// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.NativeFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The state of a copy besides its resources, one copy at a time: the box to copy, and a position behind it in the
 * device's order, which {@link CopyCompletions} marks and polls.
 */
public final class CopyMark {

    private static final int DATA = 0; // BOOL
    private static final int BOX = 8; // D3D11_BOX
    private static final int CELL_BYTES = BOX + 6 * Integer.BYTES;

    private final ByteBuffer cells = ByteBuffer.allocateDirect(CELL_BYTES).order(ByteOrder.nativeOrder());
    private final long address = NativeMemory.address(cells);

    /** The query, or the value of the fence, that is signalled when the copy has completed. */
    long value;

    /** How often it has been polled. */
    int polls;

    /** See {@link #failure()}. */
    @Nullable
    NativeFailure failure;

    /** Creates a mark. */
    public CopyMark() {}

    /** Returns why it will not be signalled; null if not known to have failed. */
    public @Nullable NativeFailure failure() {
        return failure;
    }

    /** Returns the address of the 4 bytes for a query's result. */
    long dataCell() {
        return address + DATA;
    }

    /** Returns the address of a box of a buffer from {@code from} to {@code to}; valid until the next call. */
    public long box(long from, long to) {
        return box((int) from, 0, 0, (int) (to - from), 1, 1);
    }

    /** Returns the address of a box of a texture; valid until the next call. */
    public long box(int left, int top, int front, int columns, int rows, int slices) {
        cells.putInt(BOX, left).putInt(BOX + 4, top).putInt(BOX + 8, front);
        cells.putInt(BOX + 12, left + columns).putInt(BOX + 16, top + rows).putInt(BOX + 20, front + slices);
        return address + BOX;
    }
}
