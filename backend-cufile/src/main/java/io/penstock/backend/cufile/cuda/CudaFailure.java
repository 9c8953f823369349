// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.NativeFailure;

/** Maps a {@code CUresult} to an exception. */
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
     * Returns the cause of a broken context, for the results after which every call in it fails ("sticky" ones: see
     * {@code CUresult} in the driver API's manual); empty for all others.
     */
    public static String foreignCause(int result) {
        return switch (result) {
            case 700, 714, 715, 716, 717, 718, 719, 721 ->
                "a kernel in this CUDA context, not this transfer, has failed, and the context is lost";
            case 702 -> "a kernel in this CUDA context exceeded the driver's time limit, and the context is lost";
            case 710 -> "an assertion in a kernel has failed, and the CUDA context is lost";
            case 214, 220, 226 -> "the GPU has a hardware fault, and the CUDA context is lost";
            case 201, 709 -> "the CUDA context was destroyed by its creator";
            case 3, 4 -> "the CUDA driver has shut down in this process";
            case 46, 810 ->
                "the GPU is no longer available: another process holds it, or its MPS server has ended this client";
            default -> "";
        };
    }

    /** Throws unless {@code result} is a success. */
    public static void check(String request, String call, int result) {
        if (result != CudaError.SUCCESS) {
            throw exception(request, call, result);
        }
    }

    /** Returns the exception for a failed device request that is not a transfer. */
    public static PenstockException exception(String request, String call, int result) {
        return of(call, result).exception(request);
    }
}
