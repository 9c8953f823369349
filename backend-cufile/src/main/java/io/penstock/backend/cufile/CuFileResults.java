// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.NativeError;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import io.penstock.engine.ffi.Errno;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;

/**
 * The negative results of our queues, which come from five parties: cuFile's {@code -errno}, {@code -CUfileOpError} (from -5001
 * down), {@code CUresult} below {@link #CUDA}, system calls of our own below {@link #SYSTEM}, and the queue itself at the
 * very bottom.
 */
final class CuFileResults {

    static final long CANCELLED = Long.MIN_VALUE;
    /** An operation of a stream or a batch failed as a system call fails, in a thread whose errno we cannot read. */
    static final long UNTOLD_ERRNO = Long.MIN_VALUE + 2;
    /** The stream has passed the operation, which has left no count. */
    static final long NO_COUNT = Long.MIN_VALUE + 3;
    /** libcufile gave the operation up after its own time limit. */
    static final long TIMED_OUT = Long.MIN_VALUE + 4;

    /** A Java method threw, which the task keeps. */
    static final long THREW = Long.MIN_VALUE + 5;

    private static final long OWN_END = Long.MIN_VALUE + (2L << 32);
    private static final int FIRST_OF_CUFILE = 5001;
    private static final long CUDA = -10_000;
    private static final long SYSTEM = -20_000;
    private static final int LAST_ERRNO = 4095;

    private CuFileResults() {}

    /** Returns the result that stands for a {@code CUresult}. */
    static long ofCuda(int result) {
        return CUDA - result;
    }

    /** Returns the result that stands for {@code -errno} of a system call of ours; bytes are as they are. */
    static long ofSystem(long answer) {
        return answer < 0 ? SYSTEM + answer : answer;
    }

    /** Returns the result that stands for a {@code CUfileError_t} that is no success. */
    static long ofStatus(long status) {
        int error = CuFile.error(status);
        return error == CuFileError.CUDA_DRIVER_ERROR && CuFile.cudaError(status) != 0
                ? ofCuda(CuFile.cudaError(status))
                : -error;
    }

    /** Returns the result that stands for the count of an operation that ran in a thread of libcufile's. */
    static long ofCount(long count) {
        return count == -1 ? UNTOLD_ERRNO : count;
    }

    /** Returns call, code and symbol of a {@code CUfileError_t}; of the CUDA driver where cuFile passes its answer on. */
    static NativeError error(String call, long status) {
        int error = CuFile.error(status);
        if (error == CuFileError.CUDA_DRIVER_ERROR && CuFile.cudaError(status) != 0) {
            return CudaFailure.error(call, CuFile.cudaError(status));
        }
        return new NativeError(call, error, CuFileError.symbol(error));
    }

    /**
     * Returns what a result means.
     *
     * @param call that gave it
     * @param thrown what a Java method threw, for a result of {@link #threw}
     */
    static NativeFailure failure(String call, long result, String thrown) {
        if (result < OWN_END) {
            return own(call, result, thrown);
        }
        if (result < SYSTEM) {
            return ofErrno(systemCall(call), (int) (SYSTEM - result));
        }
        if (result <= CUDA) {
            return CudaFailure.of(call, (int) (CUDA - result));
        }
        return result < -LAST_ERRNO ? ofCuFile(call, (int) -result) : ofErrno(call, (int) -result);
    }

    private static NativeFailure ofCuFile(String call, int error) {
        NativeError facts = new NativeError(call, error, CuFileError.symbol(error));
        return new NativeFailure(
                facts,
                switch (CuFileError.meaning(error)) {
                    case TRANSIENT -> error == CuFileError.BATCH_FULL ? Kind.RETRY : Kind.TRANSIENT;
                    case LOST -> Kind.LOST;
                    case SUCCESS, PERMANENT, FALL_OVER -> Kind.PERMANENT;
                });
    }

    private static NativeFailure ofErrno(String call, int errno) {
        Kind kind = switch (errno) {
            case Errno.EINTR, Errno.EAGAIN -> Kind.RETRY;
            case Errno.ENOMEM, Errno.ENOBUFS, Errno.EBUSY -> Kind.TRANSIENT;
            case Errno.ECANCELED -> Kind.CANCELLED;
            default -> Kind.PERMANENT;
        };
        return new NativeFailure(new NativeError(call, errno, Errno.symbol(errno)), kind);
    }

    private static NativeFailure own(String call, long result, String thrown) {
        long code = result - Long.MIN_VALUE;
        if (result == CANCELLED) {
            return new NativeFailure(new NativeError(call, Errno.ECANCELED, "ECANCELED"), Kind.CANCELLED);
        }
        if (result == TIMED_OUT) {
            return new NativeFailure(new NativeError(call, CuFile.CUFILE_TIMEOUT, "CUFILE_TIMEOUT"), Kind.TRANSIENT);
        }
        if (result == UNTOLD_ERRNO) {
            return new NativeFailure(new NativeError(call, -1, "errno is libcufile's own"), Kind.PERMANENT);
        }
        String what = result == NO_COUNT ? "the stream has passed, and there is no count" : thrown;
        return new NativeFailure(new NativeError(call, code, what), Kind.PERMANENT);
    }

    /** Slots are read and written by the system, whatever call memory of the GPU takes. */
    private static String systemCall(String call) {
        if (call.startsWith("cuFileRead")) {
            return "pread";
        }
        return call.startsWith("cuFileWrite") ? "pwrite" : call;
    }

    /** Returns the {@code CUfileOpError} that a result is; 0 where it is none. */
    static int cuFileError(long result) {
        return result <= -FIRST_OF_CUFILE && result > CUDA ? (int) -result : 0;
    }
}
