// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;

/** A controller refused an admin command, or did not follow a change of its registers. */
public final class ControllerException extends IOException {

    private static final long serialVersionUID = 1L;

    private final transient NativeFailure failure;

    ControllerException(String request, NativeFailure failure) {
        super(request + " failed: " + failure);
        this.failure = failure;
    }

    /** Returns that the device was removed. */
    static ControllerException gone(String request) {
        NativeError error = new NativeError("CSTS", 0xffffffffL, "ALL_ONES");
        String note = "the device is gone: its registers read as all ones";
        return new ControllerException(request, new NativeFailure(error, NativeFailure.Kind.LOST, note));
    }

    /** Returns the cause. */
    public NativeFailure failure() {
        return failure;
    }
}
