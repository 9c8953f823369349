// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.memory;

import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Device memory in host memory, which can be viewed as a byte buffer without native calls.
 *
 * <p>{@link #hostAddress()} is the true address if JNA can be loaded. If not, no native code ever sees it: it is then a
 * number unique to this memory, as an address would be.
 */
public interface HostMemory extends DeviceMemory {

    /**
     * Returns a window on the memory, in native byte order; the window is not checked against {@link #free}.
     *
     * @throws IndexOutOfBoundsException if the window does not lie inside the memory
     */
    ByteBuffer buffer(long offset, int length);

    @Override
    default long nativeHandle() {
        return hostAddress();
    }

    /** Returns the memory of a direct buffer from 0 to its capacity, which stays referenced by the result. */
    static HostMemory wrap(ByteBuffer memory) {
        ByteBuffer whole = memory.duplicate().clear();
        long address = NativeMemory.isAvailable()
                ? NativeMemory.address(whole)
                : Mapping.inventAddress(whole.capacity()) + whole.alignmentOffset(0, Mapping.ALIGNMENT);
        return new Wrapped(address, whole.capacity(), whole);
    }

    /** Returns {@code bytes} of the application's memory, which the application must keep valid. */
    static HostMemory wrap(long address, long bytes) {
        return new Wrapped(address, bytes, null);
    }

    /** Memory that its owner frees. */
    record Wrapped(long hostAddress, long bytes, @Nullable ByteBuffer whole) implements HostMemory {

        @Override
        public ByteBuffer buffer(long offset, int length) {
            Objects.checkFromIndexSize(offset, length, bytes);
            return whole == null
                    ? NativeMemory.view(hostAddress + offset, length)
                    : whole.slice((int) offset, length).order(ByteOrder.nativeOrder());
        }

        @Override
        public void free() {
            // freed by its owner
        }
    }
}
