// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.stream;

import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.sync.CallTask;
import java.util.ArrayDeque;

/** One CUDA stream, internal or the application's, and its operations in flight, in order. */
final class StreamLine {

    /** Registration flags of a stream whose operations may start and end anywhere. */
    private static final int FIXED = CuFile.CU_FILE_STREAM_FIXED_BUF_OFFSET
            | CuFile.CU_FILE_STREAM_FIXED_FILE_OFFSET
            | CuFile.CU_FILE_STREAM_FIXED_FILE_SIZE;

    final ArrayDeque<CallTask> operations = new ArrayDeque<>();
    private final long stream;
    private final boolean ours;
    private final boolean aligned;
    private final boolean registered;

    private StreamLine(long stream, boolean ours, boolean aligned, boolean registered) {
        this.stream = stream;
        this.ours = ours;
        this.aligned = aligned;
        this.registered = registered;
    }

    /** Wraps a stream of the application, which is not registered with cuFile. */
    static StreamLine of(long stream) {
        return new StreamLine(stream, false, false, false);
    }

    /**
     * Creates a stream; a context must be current.
     *
     * @param aligned true if it is for whole blocks only, which saves cuFile a check
     * @throws io.penstock.PenstockException if none can be created
     */
    static StreamLine open(boolean aligned) {
        long[] stream = new long[1];
        int result = Cuda.cuStreamCreate(stream, Cuda.CU_STREAM_NON_BLOCKING);
        CudaFailure.check("a stream for cuFile", "cuStreamCreate", result);
        // Optional, according to the vendor: without it cuFile evaluates the arguments late and allocates for each
        // operation.
        long status = CuFile.cuFileStreamRegister(stream[0], aligned ? CuFile.CU_FILE_STREAM_FIXED_AND_ALIGNED : FIXED);
        return new StreamLine(stream[0], true, aligned, CuFile.error(status) == CuFileError.SUCCESS);
    }

    long stream() {
        return stream;
    }

    boolean isOurs() {
        return ours;
    }

    boolean isAligned() {
        return aligned;
    }

    /** Destroys it: first for cuFile, then for CUDA. It must have completed everything. */
    void close() {
        if (registered) {
            CuFile.cuFileStreamDeregister(stream);
        }
        if (ours) {
            Cuda.cuStreamDestroy_v2(stream);
        }
    }
}
