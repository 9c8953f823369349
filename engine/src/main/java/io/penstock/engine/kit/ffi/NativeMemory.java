// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Views between addresses and byte buffers, on every operating system.
 *
 * <p><b>Ownership:</b> a view owns nothing and is not checked: it is valid only while its memory is.
 */
public final class NativeMemory {

    private NativeMemory() {}

    /** Returns whether JNA can be loaded; if not, no other method may be called. */
    public static boolean isAvailable() {
        return NativeAccess.refusal() == null;
    }

    /**
     * Returns the memory at {@code address} as a buffer in native byte order, from 0 to {@code length}.
     *
     * @param length at most {@link Integer#MAX_VALUE}; larger memory needs several views
     */
    public static ByteBuffer view(long address, long length) {
        if (address == 0) {
            throw new IllegalArgumentException("address must not be 0");
        }
        Objects.checkIndex(length, (long) Integer.MAX_VALUE + 1);
        return new Pointer(address).getByteBuffer(0, length).order(ByteOrder.nativeOrder());
    }

    /** Returns the address of byte 0 of {@code buffer}, whatever its position; it must be direct. */
    public static long address(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException("buffer must be direct, was " + buffer);
        }
        return Pointer.nativeValue(Native.getDirectBufferPointer(buffer));
    }

    /** Copies {@code length} bytes; the two ranges must not overlap. */
    public static void copy(long target, long source, long length) {
        CLibrary.memcpy(target, source, length);
    }

    /** As {@link #copy}, for ranges that may overlap. */
    public static void move(long target, long source, long length) {
        CLibrary.memmove(target, source, length);
    }

    /** Sets {@code length} bytes from {@code address} on to {@code value}. */
    public static void fill(long address, long length, byte value) {
        CLibrary.memset(address, value, length);
    }

    /** Allocates memory from the C heap; 0 if there is none. */
    public static long allocate(long length) {
        return CLibrary.malloc(length);
    }

    /** Frees memory returned by {@link #allocate}. */
    public static void free(long address) {
        CLibrary.free(address);
    }

    /** The functions that every C library has. */
    private static final class CLibrary {
        static {
            Native.register(CLibrary.class, Platform.C_LIBRARY_NAME);
        }

        static native long memcpy(long target, long source, long length);

        static native long memmove(long target, long source, long length);

        static native long memset(long address, int value, long length);

        static native long malloc(long length);

        static native void free(long address);
    }
}
