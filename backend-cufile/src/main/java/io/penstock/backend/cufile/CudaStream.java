// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.Failure;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.cuda.CudaFence;
import io.penstock.backend.cufile.cuda.LateWord;
import io.penstock.backend.cufile.cuda.StreamAccess;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import java.util.Objects;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A CUstream of the application. Transfers and the application's kernels are ordered on it without the host in between.
 *
 * <pre>{@code
 * CudaStream stream = CudaStream.of(custream);
 * backend.enqueue(read).doOnNext(stream::await);             // kernels launched from here on see the bytes
 * chunk.releaseAfter(stream.fence());                        // the chunk is in use until the kernels so far are done
 * backend.submit(Transfer.read(from, target).on(stream));    // the copies stand in the stream itself
 * }</pre>
 *
 * <p><b>Threading:</b> any thread, whatever context is current there; the order of calls is the order of the stream.
 *
 * <p><b>Ownership:</b> the stream remains the application's. It must live until all work enqueued here has completed.
 */
public final class CudaStream implements DeviceQueue {

    static {
        StreamAccess.set(new StreamAccess() {
            @Override
            protected long contextOf(DeviceQueue stream) {
                return ((CudaStream) stream).context;
            }

            @Override
            protected @Nullable LateWord sizeOf(DeviceQueue stream) {
                LateSize size = ((CudaStream) stream).size;
                return size == null ? null : size.word;
            }
        });
    }

    private static final String NOT_LOADED = "the CUDA driver is not loaded: no backend cufile is open";

    private final long stream;
    private final long context;
    private final @Nullable LateSize size;

    private CudaStream(long stream, long context, @Nullable LateSize size) {
        this.stream = stream;
        this.context = context;
        this.size = size;
    }

    /**
     * Wraps a stream; a backend {@code cufile} must be open.
     *
     * @param stream the CUstream; not 0, the default stream, which belongs to whichever context is current
     * @throws IllegalArgumentException if the driver does not know it
     * @throws IllegalStateException if no backend is open
     */
    public static CudaStream of(long stream) {
        if (stream == 0) {
            throw new IllegalArgumentException("the default stream is not supported: create one with cuStreamCreate");
        }
        // The driver requires a current context, any one, to return the stream's.
        long any = CudaContext.anyHandle().orElseThrow(() -> new IllegalStateException(NOT_LOADED));
        long[] context = new long[1];
        int result = CudaContext.in(any, () -> Cuda.cuStreamGetCtx(stream, context));
        if (result != CudaError.SUCCESS) {
            throw new IllegalArgumentException("invalid CUstream 0x" + Long.toHexString(stream) + ": "
                    + CudaFailure.error("cuStreamGetCtx", result));
        }
        return new CudaStream(stream, context[0], null);
    }

    /**
     * Returns the file of the CUDA driver that the backends of this process call ({@code penstock.cufile.libcuda}), or
     * its name for the system's loader: for an application that calls CUDA itself. Another file may be another driver,
     * which does not know the backends' memory.
     *
     * @throws IllegalStateException if no backend has loaded it
     */
    public static String library() {
        String file = Cuda.file();
        if (file.isEmpty()) {
            throw new IllegalStateException(NOT_LOADED);
        }
        return file;
    }

    /** {@inheritDoc} The CUstream. */
    @Override
    public long nativeHandle() {
        return stream;
    }

    /**
     * Returns a fence at the current tail of the stream, signalled when all work enqueued so far has completed. For
     * {@link Transfer#after} and {@link io.penstock.Chunk#releaseAfter}; the caller, or the chunk, closes it.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public DeviceFence fence() {
        long[] event = new long[1];
        check("cuEventCreate", () -> Cuda.cuEventCreate(event, Cuda.CU_EVENT_DISABLE_TIMING));
        CudaFence fence = new CudaFence(context, event[0], true, 0);
        try {
            check("cuEventRecord", () -> Cuda.cuEventRecord(event[0], stream));
            return fence;
        } catch (RuntimeException | Error e) {
            fence.close();
            throw e;
        }
    }

    /**
     * Makes later work in the stream wait, on the GPU, until {@code fence} is signalled.
     *
     * @throws IllegalArgumentException if the fence has no CUevent
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public void await(DeviceFence fence) {
        long event = fence.nativeHandle();
        if (event == 0) {
            throw new IllegalArgumentException(fence + " has no CUevent: only the host can wait for it");
        }
        check("cuStreamWaitEvent", () -> Cuda.cuStreamWaitEvent(stream, event, 0));
    }

    /**
     * Returns this stream for a transfer whose size is read from {@code size} when the stream reaches the transfer, at
     * most the transfer's bytes: {@code transfer.on(stream.sized(size))}. Reads and writes. Only cuFile's stream calls
     * support this ({@code penstock.cufile.path=stream}); other paths refuse it, and transfers of more than one segment
     * ({@code penstock.cufile.segment-bytes}) are refused too. Only a size of {@link #lateBlocks} goes directly.
     */
    public CudaStream sized(LateSize size) {
        return new CudaStream(stream, context, Objects.requireNonNull(size, "size"));
    }

    /**
     * Creates a size that becomes known in this stream's context: any number of bytes.
     *
     * @throws io.penstock.PenstockException if no memory can be pinned
     */
    public LateSize lateSize() {
        return new LateSize(LateWord.in(context, 1));
    }

    /**
     * As {@link #lateSize}, of a size that will be a multiple of 4096 bytes: the direct path takes no other.
     *
     * @throws io.penstock.PenstockException if no memory can be pinned
     */
    public LateSize lateBlocks() {
        return new LateSize(LateWord.in(context, CuFile.BLOCK_BYTES));
    }

    private void check(String call, IntSupplier calls) {
        int result = CudaContext.in(context, calls);
        if (result != CudaError.SUCCESS) {
            throw new PermanentStorageException(
                    this + " refused: " + CudaFailure.error(call, result),
                    new Failure(Failure.NOT_STARTED.outcome(), CudaFailure.error(call, result)),
                    null);
        }
    }

    @Override
    public String toString() {
        return "CUstream 0x" + Long.toHexString(stream);
    }
}
