// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.NativeFailure;

/** What a {@code CUresult} means to whoever asked. */
public final class CudaFailure {

    private CudaFailure() {}

    public static NativeError error(String call, int result) {
        return new NativeError(call, result, CudaError.symbol(result));
    }

    public static NativeFailure of(String call, int result) {
        return new NativeFailure(error(call, result), kind(result), foreignCause(result));
    }

    private static NativeFailure.Kind kind(int result) {
        if (!foreignCause(result).isEmpty()) {
            return NativeFailure.Kind.LOST;
        }
        return result == CudaError.OUT_OF_MEMORY ? NativeFailure.Kind.TRANSIENT : NativeFailure.Kind.PERMANENT;
    }

    /**
     * Returns who has brought a context down, for the results after which every call in it fails ("sticky" ones: see
     * {@code CUresult} in the driver API's manual); empty for all others.
     */
    public static String foreignCause(int result) {
        return switch (result) {
            case 700, 714, 715, 716, 717, 718, 719, 721 ->
                "a kernel in this CUDA context, not this transfer, has failed, and the context with it";
            case 702 -> "a kernel in this CUDA context ran into the driver's time limit, and took the context with it";
            case 710 -> "an assertion in a kernel has failed, and taken the CUDA context with it";
            case 214, 220, 226 -> "the GPU reports a fault of its hardware, which ends the CUDA context";
            case 201, 709 -> "the CUDA context was destroyed by whoever made it";
            case 3, 4 -> "the CUDA driver has shut down in this process";
            case 46, 810 -> "the GPU was taken away: another process holds it, or its MPS server has ended this one";
            default -> "";
        };
    }

    /** Goes on if {@code result} is a success. */
    public static void check(String request, String call, int result) {
        if (result != CudaError.SUCCESS) {
            throw exception(request, call, result);
        }
    }

    /** Returns what to throw where something was asked of the device that is no transfer. */
    public static PenstockException exception(String request, String call, int result) {
        NativeFailure failure = of(call, result);
        String message =
                request + " failed: " + failure.error() + (failure.note().isEmpty() ? "" : "; " + failure.note());
        Failure facts = new Failure(Outcome.NOT_STARTED, failure.error());
        return switch (failure.kind()) {
            case LOST -> new DeviceLostException(message, facts, null);
            case TRANSIENT, RETRY -> new TransientStorageException(message, facts, null);
            case PERMANENT, CANCELLED -> new PermanentStorageException(message, facts, null);
        };
    }
}
