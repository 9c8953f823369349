// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

import com.sun.jna.Callback;

/** What {@code clSetEventCallback} calls, on a thread of the driver's; it must make no OpenCL call that blocks. */
@FunctionalInterface
public interface EventCallback extends Callback {

    /**
     * Hears that an event has come to a status.
     *
     * @param event the cl_event
     * @param status what was asked for, or a negative number if the command has failed
     * @param user what was handed in
     */
    void callback(long event, int status, long user);
}
