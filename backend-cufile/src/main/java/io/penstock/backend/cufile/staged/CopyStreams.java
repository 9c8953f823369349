// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;

/**
 * The two streams of a context on which staging buffers are copied, one for each direction. Copies on them wait only
 * for the copy before.
 *
 * <p>Not one stream per staging buffer: that is slower when several threads start copies. With ten threads an H200
 * moves 49.6 GB/s with two streams and 46.4 GB/s with one each, in staging buffers of 2 MiB; 51.2 and 50.3 in staging
 * buffers of 4 MiB ({@code benchmarks/experiments/links.c}, docs/results/h200.md).
 */
public final class CopyStreams {

    private final long toGpu;
    private final long fromGpu;

    private CopyStreams(long toGpu, long fromGpu) {
        this.toGpu = toGpu;
        this.fromGpu = fromGpu;
    }

    /** Creates both; their context must be current. */
    static CopyStreams open() {
        String request = "streams for the copies of staging buffers";
        long[] toGpu = new long[1];
        CudaFailure.check(request, "cuStreamCreate", Cuda.cuStreamCreate(toGpu, Cuda.CU_STREAM_NON_BLOCKING));
        long[] fromGpu = new long[1];
        int result = Cuda.cuStreamCreate(fromGpu, Cuda.CU_STREAM_NON_BLOCKING);
        if (result != CudaError.SUCCESS) {
            Cuda.cuStreamDestroy_v2(toGpu[0]);
            throw CudaFailure.exception(request, "cuStreamCreate", result);
        }
        return new CopyStreams(toGpu[0], fromGpu[0]);
    }

    public long toGpu() {
        return toGpu;
    }

    public long fromGpu() {
        return fromGpu;
    }

    /**
     * Records an event behind the copy just started on a stream; returns the driver's result. After a failure the copy
     * has completed: nothing else would report it, and its memory must not be released before.
     */
    public static int mark(long event, long stream) {
        int recorded = Cuda.cuEventRecord(event, stream);
        if (recorded != CudaError.SUCCESS) {
            Cuda.cuStreamSynchronize(stream);
        }
        return recorded;
    }

    /** Frees both; their context must be current. */
    void close() {
        Cuda.cuStreamDestroy_v2(toGpu);
        Cuda.cuStreamDestroy_v2(fromGpu);
    }
}
