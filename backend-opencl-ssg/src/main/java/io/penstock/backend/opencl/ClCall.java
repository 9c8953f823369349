// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.engine.spi.NativeFailure;

/** The OpenCL calls that can fail within a transfer, and the numbers by which queues say so. */
enum ClCall {
    /** What a command came to, as its event says; no call's answer. */
    COPY(1, "the copy"),
    EVENT_INFO(2, "clGetEventInfo"),
    FLUSH(3, "clFlush"),
    READ_BUFFER(4, "clEnqueueReadBuffer"),
    WRITE_BUFFER(5, "clEnqueueWriteBuffer"),
    MAP_BUFFER(6, "clEnqueueMapBuffer"),
    UNMAP(7, "clEnqueueUnmapMemObject"),
    COPY_BUFFER(8, "clEnqueueCopyBuffer"),
    READ_FILE(9, "clEnqueueReadSsgFileAMD"),
    WRITE_FILE(10, "clEnqueueWriteSsgFileAMD"),
    OPEN_FILE(11, "clCreateSsgFileObjectAMD");

    /** Marks a number as an event's status, rather than the call's answer. */
    private static final long BY_EVENT = 1L << 10;

    private static final ClCall[] ALL = values();
    private static final long CODE_BITS = 0xFFFF_FFFFL;

    private final long number;
    private final String vendorName;

    ClCall(long number, String vendorName) {
        this.number = number;
        this.vendorName = vendorName;
    }

    /** Returns the negative number for {@link #failure}; codes may be negative or positive. */
    long failed(int code) {
        return -(number << Integer.SIZE | (code & CODE_BITS));
    }

    /** Returns whether a number is one of {@link #failed}, and not the error number of a system call. */
    static boolean isOne(long result) {
        return result <= -(1L << Integer.SIZE) && result > Long.MIN_VALUE / 2;
    }

    /** Returns the negative number for {@link #failure} of a command whose event has come to a negative status. */
    long failedByEvent(int status) {
        return -((number | BY_EVENT) << Integer.SIZE | (status & CODE_BITS));
    }

    /** Returns what a number of {@link #failed} or {@link #failedByEvent} means. */
    static NativeFailure failure(long failed) {
        long told = -failed;
        long number = told >>> Integer.SIZE;
        for (ClCall call : ALL) {
            if (call.number == (number & ~BY_EVENT)) {
                NativeFailure failure = OpenClFailure.of(call.vendorName, (int) told);
                return (number & BY_EVENT) == 0 ? failure : byEvent(failure);
            }
        }
        throw new IllegalArgumentException("no call of ours has failed with " + failed);
    }

    private static NativeFailure byEvent(NativeFailure failure) {
        String note = failure.note().isEmpty() ? "" : "; " + failure.note();
        return new NativeFailure(failure.error(), failure.kind(), "its event says so, after it was accepted" + note);
    }
}
