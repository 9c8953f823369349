// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Device memory that is the processor's own, and can be seen as a byte buffer without native help.
 *
 * <p>{@link #hostAddress()} is the true address wherever JNA can be loaded. Where it cannot, nothing native will ever
 * see it: it is then a number that differs from those of other memory as an address would.
 */
public interface HostMemory extends DeviceMemory {

    /**
     * Returns a window on the memory, in native byte order; the window is not checked against {@link #free}.
     *
     * @throws IndexOutOfBoundsException if it does not lie inside
     */
    ByteBuffer buffer(long offset, int length);

    @Override
    default long nativeHandle() {
        return hostAddress();
    }

    /** Returns the memory of a direct buffer from 0 to its capacity, which is held until no longer referred to. */
    static HostMemory wrap(ByteBuffer memory) {
        ByteBuffer whole = memory.duplicate().clear();
        long address =
                NativeMemory.isAvailable() ? NativeMemory.address(whole) : Mapping.inventAddress(whole.capacity());
        return new Wrapped(address, whole.capacity(), whole);
    }

    /** Returns {@code bytes} of the application's memory; it keeps them valid. */
    static HostMemory wrap(long address, long bytes) {
        return new Wrapped(address, bytes, null);
    }

    /** Memory that somebody else frees. */
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
            // not ours
        }
    }
}
