// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.cl;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.NativeFailure;

/** Maps an OpenCL error code to an exception. */
public final class OpenClFailure {

    private OpenClFailure() {}

    public static NativeError error(String call, int code) {
        return new NativeError(call, code, OpenClError.symbol(code));
    }

    static NativeFailure of(String call, int code) {
        return new NativeFailure(error(call, code), kind(code), note(code));
    }

    private static NativeFailure.Kind kind(int code) {
        return switch (code) {
            case OpenClError.MEM_OBJECT_ALLOCATION_FAILURE,
                    OpenClError.OUT_OF_RESOURCES,
                    OpenClError.OUT_OF_HOST_MEMORY -> NativeFailure.Kind.TRANSIENT;
            case OpenClError.DEVICE_NOT_AVAILABLE,
                    OpenClError.INVALID_CONTEXT,
                    OpenClError.INVALID_COMMAND_QUEUE,
                    OpenClError.CONTEXT_TERMINATED_KHR -> NativeFailure.Kind.LOST;
            default -> NativeFailure.Kind.PERMANENT;
        };
    }

    private static String note(int code) {
        return switch (code) {
            case OpenClError.DEVICE_NOT_AVAILABLE -> "the device was removed";
            case OpenClError.INVALID_FILE_OBJECT_AMD -> "the driver has released the file";
            case OpenClError.INVALID_CONTEXT, OpenClError.INVALID_COMMAND_QUEUE ->
                "the OpenCL context or queue was released by its creator, or the device has failed";
            case OpenClError.CONTEXT_TERMINATED_KHR -> "the OpenCL context was terminated";
            case OpenClError.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST -> "a command in its wait list has failed";
            default -> "";
        };
    }

    /** Throws unless {@code code} is a success. */
    public static void check(String request, String call, int code) {
        if (code != OpenClError.SUCCESS) {
            throw exception(request, call, code);
        }
    }

    /** Returns the exception for what is not available on this machine. */
    public static BackendUnavailableException unavailable(String why) {
        return new BackendUnavailableException(why, Failure.NOT_STARTED, null);
    }

    /** Returns the exception for a failed device request that is not a transfer. */
    public static PenstockException exception(String request, String call, int code) {
        return of(call, code).exception(request);
    }
}
