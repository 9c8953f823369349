// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;

/**
 * The two streams of a context that slots are copied on, one each way. Nothing ever waits on them for anything but the
 * copy before.
 *
 * <p>Not a stream for each slot: where several threads start copies, that is slower. With ten threads an H200 moves 49.6
 * by these and 46.4 GB/s by those, in slots of 2 MiB, and 51.2 and 50.3 in slots of 4 MiB
 * ({@code benchmarks/experiments/links.c}, docs/results/h200.md).
 */
public final class CopyStreams {

    private final long toGpu;
    private final long fromGpu;

    private CopyStreams(long toGpu, long fromGpu) {
        this.toGpu = toGpu;
        this.fromGpu = fromGpu;
    }

    /** Makes both; their context is current. */
    static CopyStreams open() {
        String request = "streams for the copies of slots";
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
     * Has an event tell when the copy ends that was just started on a stream; answers as the driver does. After a failure
     * the copy has ended: nothing else would tell, and what it uses must not be let go before.
     */
    public static int mark(long event, long stream) {
        int recorded = Cuda.cuEventRecord(event, stream);
        if (recorded != CudaError.SUCCESS) {
            Cuda.cuStreamSynchronize(stream);
        }
        return recorded;
    }

    /** Frees both; their context is current. */
    void close() {
        Cuda.cuStreamDestroy_v2(toGpu);
        Cuda.cuStreamDestroy_v2(fromGpu);
    }
}
