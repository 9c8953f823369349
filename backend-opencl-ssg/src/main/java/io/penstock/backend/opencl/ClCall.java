// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.engine.spi.NativeFailure;

/** The OpenCL calls that can fail within a transfer. */
enum ClCall {
    /** What a command came to, as its event says; no call's answer. */
    COPY("the copy"),
    EVENT_INFO("clGetEventInfo"),
    FLUSH("clFlush"),
    READ_BUFFER("clEnqueueReadBuffer"),
    WRITE_BUFFER("clEnqueueWriteBuffer"),
    MAP_BUFFER("clEnqueueMapBuffer"),
    UNMAP("clEnqueueUnmapMemObject"),
    COPY_BUFFER("clEnqueueCopyBuffer"),
    READ_FILE("clEnqueueReadSsgFileAMD"),
    WRITE_FILE("clEnqueueWriteSsgFileAMD"),
    OPEN_FILE("clCreateSsgFileObjectAMD");

    private final String vendorName;

    ClCall(String vendorName) {
        this.vendorName = vendorName;
    }

    /** Returns what the call's answer means. */
    NativeFailure failure(int code) {
        return OpenClFailure.of(vendorName, code);
    }

    /** Returns what it means that the command's event has come to a negative status. */
    NativeFailure failureByEvent(int status) {
        NativeFailure failure = failure(status);
        String note = failure.note().isEmpty() ? "" : "; " + failure.note();
        return new NativeFailure(failure.error(), failure.kind(), "its event says so, after it was accepted" + note);
    }
}
