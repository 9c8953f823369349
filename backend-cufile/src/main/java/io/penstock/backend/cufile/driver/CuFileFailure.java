// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.driver;

import io.penstock.NativeError;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;

/** Maps cuFile's error codes to failures. */
public final class CuFileFailure {

    /** The failure of a request that was cancelled before cuFile had it. */
    public static final NativeFailure CANCELLED =
            new NativeFailure(new NativeError("cancel", Errno.ECANCELED, "ECANCELED"), Kind.CANCELLED);

    private static final int FIRST_OF_CUFILE = 5001;

    private CuFileFailure() {}

    /** Returns the failure for a {@code CUfileOpError}. */
    public static NativeFailure of(String call, int error) {
        NativeError facts = new NativeError(call, error, CuFileError.symbol(error));
        return new NativeFailure(
                facts,
                switch (CuFileError.meaning(error)) {
                    case TRANSIENT -> error == CuFileError.BATCH_FULL ? Kind.RETRY : Kind.TRANSIENT;
                    case LOST -> Kind.LOST;
                    case SUCCESS, PERMANENT, FALL_OVER -> Kind.PERMANENT;
                });
    }

    /**
     * Returns the failure for a {@code CUfileError_t} that is not a success; CUDA's failure where cuFile passes one on.
     */
    public static NativeFailure ofStatus(String call, long status) {
        return isOfCuda(status) ? CudaFailure.of(call, CuFile.cudaError(status)) : of(call, CuFile.error(status));
    }

    /** Returns call, code and symbol of a {@code CUfileError_t}, as {@link #ofStatus}. */
    static NativeError error(String call, long status) {
        return ofStatus(call, status).error();
    }

    private static boolean isOfCuda(long status) {
        return CuFile.error(status) == CuFileError.CUDA_DRIVER_ERROR && CuFile.cudaError(status) != 0;
    }

    /** Returns the failure for a negative count: {@code -errno} or {@code -CUfileOpError}. */
    public static NativeFailure ofCount(String call, long count) {
        return count <= -FIRST_OF_CUFILE ? of(call, (int) -count) : HostFailure.of(call, count);
    }

    /**
     * Returns the failure for the negative count of a stream or batch operation: as {@link #ofCount}, except that -1 is
     * a failed system call on a libcufile thread, whose errno cannot be read.
     */
    public static NativeFailure ofLateCount(String call, long count) {
        return count == -1
                ? new NativeFailure(new NativeError(call, -1, "errno is libcufile's own"), Kind.PERMANENT)
                : ofCount(call, count);
    }
}
