// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.NativeFailure;

/** What an OpenCL error code means to whoever asked. */
final class OpenClFailure {

    private OpenClFailure() {}

    static NativeError error(String call, int code) {
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
            case OpenClError.DEVICE_NOT_AVAILABLE -> "the device was taken away";
            case OpenClError.INVALID_FILE_OBJECT_AMD -> "the driver has let go of the file";
            case OpenClError.INVALID_CONTEXT, OpenClError.INVALID_COMMAND_QUEUE ->
                "the OpenCL context or queue was released by whoever made it, or the device has failed";
            case OpenClError.CONTEXT_TERMINATED_KHR -> "the OpenCL context was terminated";
            case OpenClError.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ->
                "what it had to wait for on the device has failed";
            default -> "";
        };
    }

    /** Goes on if {@code code} is a success. */
    static void check(String request, String call, int code) {
        if (code != OpenClError.SUCCESS) {
            throw exception(request, call, code);
        }
    }

    /** Returns what to throw where something was asked of the device that is no transfer. */
    static PenstockException exception(String request, String call, int code) {
        NativeFailure failure = of(call, code);
        String message = request + " failed: " + failure;
        Failure facts = new Failure(Outcome.NOT_STARTED, failure.error());
        return switch (failure.kind()) {
            case LOST -> new DeviceLostException(message, facts, null);
            case TRANSIENT, RETRY -> new TransientStorageException(message, facts, null);
            case PERMANENT, CANCELLED -> new PermanentStorageException(message, facts, null);
        };
    }
}
