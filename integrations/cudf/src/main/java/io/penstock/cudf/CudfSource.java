// SPDX-License-Identifier: Apache-2.0
package io.penstock.cudf;

import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.DataSource;
import ai.rapids.cudf.DeviceMemoryBuffer;
import ai.rapids.cudf.HostMemoryBuffer;
import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * A file for cudf's readers, such as {@code Table.readParquet(options, source)}: metadata are read into memory of the
 * host, and what is decoded goes straight into the GPU's memory, which cudf allocates.
 *
 * <p><b>Threading:</b> for one reader of cudf at a time, since cudf notes the buffers that it holds without a lock. Its
 * calls block until their transfer has ended, also if the thread is interrupted, since cudf frees the memory behind
 * them; the thread stays interrupted.
 *
 * <p><b>Errors:</b> the errors of {@link Backend#submit}, from the call of cudf that needed the bytes.
 *
 * <p><b>Ownership:</b> the source owns the two open files; the backends are the caller's. Close the source before them.
 */
public final class CudfSource extends DataSource {

    private final Backend gpu;
    private final Backend host;
    private final StorageFile gpuFile;
    private final StorageFile hostFile;

    private CudfSource(Backend gpu, StorageFile gpuFile, Backend host, StorageFile hostFile) {
        this.gpu = gpu;
        this.gpuFile = gpuFile;
        this.host = host;
        this.hostFile = hostFile;
    }

    /**
     * Opens a file. Blocks until it is open.
     *
     * @param gpu a backend of the GPU that cudf uses: {@code cufile}, with the primary context, which is the default
     * @param host a backend of host memory, for metadata
     * @throws IOException if one of them cannot open the file, as
     *     {@link Backend#openFile(Path, io.penstock.FileOption...)}
     */
    public static CudfSource open(Backend gpu, Backend host, Path path) throws IOException {
        return open(gpu, host, backend -> backend.openFile(path));
    }

    /**
     * Opens a file by its URI, such as one on another host. Blocks until it is open.
     *
     * @param gpu a backend of the GPU that cudf uses: {@code cufile}, with the primary context, which is the default
     * @param host a backend of host memory, for metadata
     * @throws IOException if one of them cannot open the file, as
     *     {@link Backend#openFile(URI, io.penstock.FileOption...)}
     */
    public static CudfSource open(Backend gpu, Backend host, URI uri) throws IOException {
        return open(gpu, host, backend -> backend.openFile(uri));
    }

    private static CudfSource open(Backend gpu, Backend host, Function<Backend, Mono<StorageFile>> open)
            throws IOException {
        StorageFile gpuFile = await(open.apply(gpu));
        try {
            return new CudfSource(gpu, gpuFile, host, await(open.apply(host)));
        } catch (Throwable e) {
            gpuFile.close();
            throw e;
        }
    }

    /** Returns the length of the file. */
    @Override
    public long size() {
        return hostFile.size();
    }

    /** Returns true. */
    @Override
    public boolean supportsDeviceRead() {
        return true;
    }

    /**
     * Reads into memory of the GPU, once the work of the stream has ended: it may still use that memory.
     *
     * @return how many bytes were read; fewer than the buffer has if the file ends before
     */
    @Override
    public long deviceRead(long offset, DeviceMemoryBuffer target, Cuda.Stream stream) throws IOException {
        // A stream that cudf passes here answers with the default stream, whichever it is (26.08.1, Cuda.Stream.wrap).
        // Its
        // readers for Java use that one.
        stream.sync();
        return read(gpu, gpuFile, offset, target.getAddress(), target.getLength());
    }

    /**
     * Reads into memory of the host.
     *
     * @return how many bytes were read; fewer than the buffer has if the file ends before
     */
    @Override
    public long hostRead(long offset, HostMemoryBuffer target) throws IOException {
        return read(host, hostFile, offset, target.getAddress(), target.getLength());
    }

    /**
     * Returns bytes in memory of the host, fewer than {@code length} if the file ends before; to be closed by the
     * caller.
     */
    @Override
    public HostMemoryBuffer hostRead(long offset, long length) throws IOException {
        long expected = bytes(hostFile, offset, length);
        HostMemoryBuffer target = HostMemoryBuffer.allocate(expected);
        try {
            long bytes = hostRead(offset, target);
            if (bytes == expected) {
                return target;
            }
            HostMemoryBuffer shorter = target.slice(0, bytes);
            target.close(); // the slice holds the memory
            return shorter;
        } catch (Throwable e) {
            target.close();
            throw e;
        }
    }

    private static long read(Backend backend, StorageFile file, long offset, long address, long length)
            throws IOException {
        long bytes = bytes(file, offset, length);
        if (bytes == 0) {
            return 0;
        }
        try (DeviceBuffer target = backend.wrap(address, length)) {
            return await(backend.submit(Transfer.read(file.region(offset, bytes), target.region(0, bytes)))
                    .map(Completion::bytes));
        }
    }

    private static long bytes(StorageFile file, long offset, long length) {
        return Math.max(0, Math.min(length, file.size() - offset));
    }

    /** Waits also if the thread is interrupted. */
    private static <T> T await(Mono<T> mono) throws IOException {
        try {
            return mono.toFuture().join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IOException cause) {
                throw cause;
            }
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /**
     * Closes the file; a second call does nothing.
     *
     * @throws IllegalStateException if cudf has not yet given back a buffer of the host; the file stays open
     */
    @Override
    public void close() {
        super.close();
        try {
            gpuFile.close();
        } finally {
            hostFile.close();
        }
    }
}
