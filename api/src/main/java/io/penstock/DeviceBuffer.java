// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.ByteBuffer;
import java.util.Optional;
import reactor.core.publisher.Mono;

/**
 * A buffer in device memory.
 *
 * <p><b>Ownership:</b> the caller that allocated it closes it. Wrapped memory stays owned by the application; closing
 * only ends the wrapping. Closing while transfers are in flight is safe: the memory is freed when the last of them has
 * ended (rules 201, 202). Contents are undefined until written. Thread-safe; the caller coordinates concurrent access
 * to the same bytes.
 */
public interface DeviceBuffer extends AutoCloseable {

    /** Returns its length in bytes. */
    long length();

    /** Returns the device's own handle or address of the first byte: CUdeviceptr, cl_mem, GL name, host address. */
    long nativeHandle();

    /** Returns a view of its bytes, if the processor can address them. */
    Optional<HostView> hostView();

    /** Returns the region from 0 to {@link #length()}. */
    default BufferRegion all() {
        return region(0, length());
    }

    /**
     * Returns a region of this buffer.
     *
     * @throws IndexOutOfBoundsException if the region does not lie inside the buffer
     */
    default BufferRegion region(long offset, long length) {
        return new BufferRegion(this, offset, length);
    }

    /**
     * Copies the remaining bytes of {@code source} to the device, starting at byte {@code offset}.
     *
     * <p><b>Result:</b> the number of bytes copied, once {@code source} may be reused. Its position does not move.
     *
     * <p><b>Errors:</b> {@link ClosedException}; {@link IndexOutOfBoundsException} at once if the bytes do not fit.
     */
    Mono<Long> upload(long offset, ByteBuffer source);

    /**
     * Copies bytes from the device, starting at byte {@code offset}, until {@code target} is full.
     *
     * <p><b>Result:</b> the number of bytes copied. The target's position does not move.
     *
     * <p><b>Errors:</b> {@link ClosedException}; {@link java.nio.ReadOnlyBufferException} if {@code target} is
     * read-only; {@link IndexOutOfBoundsException} at once if the buffer has fewer bytes left.
     */
    Mono<Long> download(long offset, ByteBuffer target);

    /**
     * Returns this buffer as a file to read from: transfers of this backend, and of others, copy from it to their own
     * buffers, as {@link Transfer#copy} does. A read beyond its end is short. It is opened for {@link FileOption#READ}
     * only; its path is a description, and it is open as long as the buffer is. Always the same object.
     */
    StorageFile asFile();

    /**
     * Exports this memory to the drivers of other devices and to other processes of this host.
     *
     * <p><b>Ownership:</b> the caller closes the export; the memory is not freed before it is
     * {@linkplain PeerExport#released() released}.
     *
     * @throws UnsupportedOperationException if this memory cannot be exported; the message states why
     * @throws ClosedException if the buffer is closed
     */
    default PeerExport exportPeer() {
        throw new UnsupportedOperationException("the memory of " + this + " cannot be accessed by other devices");
    }

    /**
     * Completes when this memory is revoked: its device is lost, or, for memory that was opened by
     * {@link Backend#openBuffer}, the process that exported it has closed the export or has ended. Close this buffer
     * then, once no work of the application's own uses its memory. If the export was closed, the memory stays valid
     * until this buffer is closed; otherwise the contents are undefined.
     *
     * <p>A lost device is detected by the first transfer, copy or allocation of this backend that fails with
     * {@link DeviceLostException}, also of a transfer that was cancelled: an I/O queue that a bug has ended counts as a
     * lost device. All buffers of the backend are revoked then, and those that it returns later. Nothing polls: while a
     * backend is idle, no loss is detected. To close a buffer does not revoke it.
     *
     * <p><b>Threading:</b> on the backend's delivery scheduler; any number of subscribers, at any time.
     *
     * <p><b>Errors:</b> never fails.
     */
    default Mono<Void> revoked() {
        return Mono.never();
    }

    /**
     * Closes the buffer; a second call does nothing. Does not wait for transfers in flight; the memory is freed after
     * them.
     */
    @Override
    void close();
}
