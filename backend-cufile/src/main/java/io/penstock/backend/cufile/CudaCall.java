// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

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
