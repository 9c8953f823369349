// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.cl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.spi.NativeFailure;

/** The OpenCL calls that can fail within a transfer. */
public enum ClCall {
    /** The result of a command, from its event status rather than from a call's return value. */
    COPY("the copy"),
    EVENT_INFO("clGetEventInfo"),
    FLUSH("clFlush"),
    READ_BUFFER("clEnqueueReadBuffer"),
    WRITE_BUFFER("clEnqueueWriteBuffer"),
    MAP_BUFFER("clEnqueueMapBuffer"),
    UNMAP("clEnqueueUnmapMemObject"),
    COPY_BUFFER("clEnqueueCopyBuffer"),
    READ_FILE("clEnqueueReadSsgFileAMD"),
    WRITE_FILE("clEnqueueWriteSsgFileAMD");

    private final String vendorName;

    ClCall(String vendorName) {
        this.vendorName = vendorName;
    }

    /** Returns the failure for a call's error code. */
    public NativeFailure failure(int code) {
        return OpenClFailure.of(vendorName, code);
    }

    /**
     * Waits for the command of an event whose state cannot be queried: the query failed, and the command
     * may still run. Returns at once if the device is lost.
     *
     * @param code the error of the query
     * @param event the address of the event
     */
    public static void awaitEnd(int code, long event) {
        if (EVENT_INFO.failure(code).kind() != NativeFailure.Kind.LOST) {
            OpenCl.clWaitForEvents(1, event);
        }
    }

    /** Returns the failure for a negative event status. */
    public NativeFailure failureByEvent(int status) {
        NativeFailure failure = failure(status);
        String note = failure.note().isEmpty() ? "" : "; " + failure.note();
        return new NativeFailure(
                failure.error(), failure.kind(), "reported by its event, after it was accepted" + note);
    }
}
