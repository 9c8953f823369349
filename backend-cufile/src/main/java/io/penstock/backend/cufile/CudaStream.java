// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuStream;
import java.util.Objects;

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
@SuppressWarnings("exports") // what it inherits is its own for applications, as with StringBuilder
public final class CudaStream extends GpuStream {

    private static final String NOT_LOADED = "the CUDA driver is not loaded: no backend cufile is open";

    private CudaStream(Handle handle) {
        super(handle);
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
        long any = GpuContext.anyHandle(Cuda.DRIVER).orElseThrow(() -> new IllegalStateException(NOT_LOADED));
        long[] context = new long[1];
        int result = Cuda.DRIVER.in(any, () -> Cuda.DRIVER.streamGetCtx(stream, context));
        if (result != Cuda.SUCCESS) {
            throw new IllegalArgumentException("invalid CUstream 0x" + Long.toHexString(stream) + ": "
                    + Cuda.DRIVER.error("streamGetCtx", result));
        }
        return new CudaStream(new Handle(Cuda.DRIVER, stream, context[0], null));
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

    /**
     * Returns this stream for a transfer whose size is read from {@code size} when the stream reaches the transfer, at
     * most the transfer's bytes: {@code transfer.on(stream.sized(size))}. Reads and writes. Only cuFile's stream calls
     * support this ({@code penstock.cufile.path=stream}); other paths refuse it, and transfers of more than one segment
     * ({@code penstock.cufile.segment-bytes}) are refused too. Only a size of {@link #lateBlocks} goes directly.
     */
    public CudaStream sized(LateSize size) {
        return new CudaStream(sized(Objects.requireNonNull(size, "size").word));
    }

    /**
     * Creates a size that becomes known in this stream's context: any number of bytes.
     *
     * @throws io.penstock.PenstockException if no memory can be pinned
     */
    public LateSize lateSize() {
        return new LateSize(lateWord(1));
    }

    /**
     * As {@link #lateSize}, of a size that will be a multiple of 4096 bytes: the direct path takes no other.
     *
     * @throws io.penstock.PenstockException if no memory can be pinned
     */
    public LateSize lateBlocks() {
        return new LateSize(lateWord(CuFile.BLOCK_BYTES));
    }
}
