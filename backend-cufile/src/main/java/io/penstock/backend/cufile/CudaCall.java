// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.NativeFailure;

/** The calls of the driver that copies are made of; their failures are numbers that name call and answer. */
enum CudaCall {
    CTX_SET_CURRENT(1, "cuCtxSetCurrent"),
    EVENT_CREATE(2, "cuEventCreate"),
    EVENT_QUERY(3, "cuEventQuery"),
    EVENT_RECORD(4, "cuEventRecord"),
    MEM_HOST_REGISTER(5, "cuMemHostRegister"),
    MEMCPY_DTOH(6, "cuMemcpyDtoHAsync"),
    MEMCPY_HTOD(7, "cuMemcpyHtoDAsync");

    private static final CudaCall[] ALL = values();

    private final long number;
    private final String vendorName;

    CudaCall(long number, String vendorName) {
        this.number = number;
        this.vendorName = vendorName;
    }

    /**
     * Has an event tell when the copy ends that was just started on a stream; answers as the driver does. After a failure
     * the copy has ended: nothing else would tell, and what it uses must not be let go before.
     */
    static int mark(long event, long stream) {
        int recorded = Cuda.cuEventRecord(event, stream);
        if (recorded != CudaError.SUCCESS) {
            Cuda.cuStreamSynchronize(stream);
        }
        return recorded;
    }

    /** Returns the negative number for {@link #failure}. */
    long failed(int result) {
        return -(number << Integer.SIZE | result);
    }

    /** Returns what a number of {@link #failed} means. */
    static NativeFailure failure(long failed) {
        long told = -failed;
        for (CudaCall call : ALL) {
            if (call.number == told >>> Integer.SIZE) {
                return CudaFailure.of(call.vendorName, (int) told);
            }
        }
        throw new IllegalArgumentException("no call of ours has failed with " + failed);
    }
}
