// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.ByteBuffer;

/**
 * The bytes of device memory as the processor sees them, while the buffer is open or the lease lasts.
 *
 * <p>Every method throws {@link ClosedException} afterwards. A buffer that another thread closes during {@link #read}
 * or {@link #write} is freed after the copy; the memory of a lease that is closed meanwhile may be reused at once, so a
 * copy on another thread requires a lease of its own. The {@link ByteBuffer} of {@link #buffer} is checked when it is
 * returned, not at each access: used afterwards it has other data, or the JVM crashes. To keep bytes, copy them with
 * {@link #read}, or read the file with {@link Backend#read(java.nio.file.Path)}.
 */
public interface HostView {

    /** Returns the length in bytes. */
    long length();

    /** Returns the byte at {@code index}. */
    byte get(long index);

    /** Sets the byte at {@code index}. */
    void put(long index, byte value);

    /** Copies bytes from {@code offset} on until {@code target} is full; moves the target's position. */
    void read(long offset, ByteBuffer target);

    /** Copies the remaining bytes of {@code source} to {@code offset} and beyond; moves the source's position. */
    void write(long offset, ByteBuffer source);

    /**
     * Returns a window on the memory itself, in native byte order.
     *
     * <p><b>Ownership:</b> it may be used while the buffer is open or the lease lasts. Afterwards nothing is thrown: it
     * has other data, or the JVM crashes.
     *
     * @param length at most {@link Integer#MAX_VALUE}; larger views need several windows
     * @throws IndexOutOfBoundsException if the window does not lie inside the view
     */
    ByteBuffer buffer(long offset, int length);
}
