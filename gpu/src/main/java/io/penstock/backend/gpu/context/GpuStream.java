// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.context;

import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.backend.gpu.api.DriverApi;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A stream of the application, which a vendor's public class, such as {@code CudaStream}, extends.
 *
 * <p><b>Threading:</b> any thread, whatever context is current there; the order of calls is the order of the stream.
 *
 * <p><b>Ownership:</b> the stream remains the application's. It must live until all work enqueued here has completed.
 */
public abstract class GpuStream implements DeviceQueue {

    /**
     * The stream for paths, which the application does not see.
     *
     * @param size the word with the size of transfers on this stream; null if each transfer has its own size
     */
    public record Handle(
            DriverApi driver,
            long stream,
            long context,
            @Nullable LateWord size) {

        /** Returns the stream of a queue; null if it is none of a GPU. */
        public static @Nullable Handle of(@Nullable DeviceQueue queue) {
            return queue instanceof GpuStream stream ? stream.handle : null;
        }

        /** Returns the word with the size of a transfer that is known late; null for any other transfer. */
        public static @Nullable LateWord lateSize(Transfer transfer) {
            Handle stream = of(transfer.queue().orElse(null));
            return stream == null ? null : stream.size;
        }

        @Override
        public String toString() {
            return driver.words().stream() + " 0x" + Long.toHexString(stream);
        }
    }

    private final Handle handle;

    /** Wraps a stream of a context. */
    protected GpuStream(Handle handle) {
        this.handle = handle;
    }

    /** Returns this stream as the handle of one whose transfers have their size in a word. */
    protected final Handle sized(LateWord word) {
        return new Handle(handle.driver, handle.stream, handle.context, word);
    }

    /** Creates a word for a size, a multiple of {@code unit}. */
    protected final LateWord lateWord(long unit) {
        return LateWord.in(handle.driver, handle.context, unit);
    }

    /** {@inheritDoc} The vendor's stream. */
    @Override
    public final long nativeHandle() {
        return handle.stream;
    }

    /**
     * Returns a fence at the current tail of the stream, signalled when all work enqueued so far has completed. For
     * {@link Transfer#after} and {@link io.penstock.Chunk#releaseAfter}; the caller, or the chunk, closes it.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public final DeviceFence fence() {
        DriverApi driver = handle.driver;
        long[] event = new long[1];
        check("eventCreate", () -> driver.eventCreate(event, DriverApi.EVENT_DISABLE_TIMING));
        GpuFence fence = new GpuFence(driver, handle.context, event[0], true, 0);
        try {
            check("eventRecord", () -> driver.eventRecord(event[0], handle.stream));
            return fence;
        } catch (RuntimeException | Error e) {
            fence.close();
            throw e;
        }
    }

    /**
     * Makes later work in the stream wait, on the GPU, until {@code fence} is signalled.
     *
     * @throws IllegalArgumentException if the fence has no event of a driver
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public final void await(DeviceFence fence) {
        long event = fence.nativeHandle();
        if (event == 0) {
            throw new IllegalArgumentException(
                    fence + " has no " + handle.driver.words().event() + ": only the host can wait for it");
        }
        check("streamWaitEvent", () -> handle.driver.streamWaitEvent(handle.stream, event, 0));
    }

    private void check(String entry, IntSupplier calls) {
        int result = handle.driver.in(handle.context, calls);
        if (result != DriverApi.SUCCESS) {
            NativeError error = handle.driver.error(entry, result);
            throw new PermanentStorageException(
                    this + " refused: " + error, new Failure(Failure.NOT_STARTED.outcome(), error), null);
        }
    }

    @Override
    public final String toString() {
        return handle.toString();
    }
}
