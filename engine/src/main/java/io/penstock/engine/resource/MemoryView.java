// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.HostView;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.order.Pins;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import java.util.Objects;

/** A view of host-accessible memory, checked at every access for being open, in windows of less than 2 GiB each. */
public final class MemoryView implements HostView {

    private static final int WINDOW_BITS = 30;

    private final DeviceMemory memory;
    private final long length;
    private final Runnable aliveCheck;
    private final Pins pins;
    private final ByteBuffer[] windows;

    /**
     * Creates a view of memory.
     *
     * @param aliveCheck throws once the memory may have been freed or reused
     * @param pins keep the memory during a copy of many bytes
     */
    MemoryView(DeviceMemory memory, long length, Runnable aliveCheck, Pins pins) {
        this.memory = memory;
        this.length = length;
        this.aliveCheck = aliveCheck;
        this.pins = pins;
        this.windows = new ByteBuffer[(int) ((length + (1L << WINDOW_BITS) - 1) >>> WINDOW_BITS)];
        for (int i = 0; i < windows.length; i++) {
            long start = (long) i << WINDOW_BITS;
            windows[i] = window(memory, start, (int) Math.min(1L << WINDOW_BITS, length - start));
        }
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public byte get(long index) {
        aliveCheck.run();
        Objects.checkIndex(index, length);
        return windows[(int) (index >>> WINDOW_BITS)].get((int) (index & ((1 << WINDOW_BITS) - 1)));
    }

    @Override
    public void put(long index, byte value) {
        aliveCheck.run();
        Objects.checkIndex(index, length);
        windows[(int) (index >>> WINDOW_BITS)].put((int) (index & ((1 << WINDOW_BITS) - 1)), value);
    }

    @Override
    public void read(long offset, ByteBuffer target) {
        boolean pinned = pins.tryPin(); // another thread may close the buffer during the copy
        try {
            target.put(buffer(offset, target.remaining()));
        } finally {
            unpin(pinned);
        }
    }

    @Override
    public void write(long offset, ByteBuffer source) {
        boolean pinned = pins.tryPin();
        try {
            buffer(offset, source.remaining()).put(source);
        } finally {
            unpin(pinned);
        }
    }

    private void unpin(boolean pinned) {
        if (pinned) {
            pins.unpin();
        }
    }

    @Override
    public ByteBuffer buffer(long offset, int bytes) {
        boolean pinned = pins.tryPin(); // another thread may close the buffer behind the check
        try {
            aliveCheck.run();
            Objects.checkFromIndexSize(offset, bytes, length);
            return window(memory, offset, bytes);
        } finally {
            unpin(pinned);
        }
    }

    /** Returns an unchecked window of host-accessible memory. */
    public static ByteBuffer window(DeviceMemory memory, long offset, int bytes) {
        if (memory instanceof HostMemory host) {
            return host.buffer(offset, bytes); // also works if no native library can be loaded
        }
        return NativeMemory.view(memory.hostAddress() + offset, bytes);
    }
}
