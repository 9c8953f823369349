// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.NativeFailure;

/** Maps an {@code HRESULT} to failures and exceptions. */
public final class Dx11Failure {

    private Dx11Failure() {}

    /** Returns a result with the call that returned it. */
    public static NativeError error(String call, int result) {
        return new NativeError(call, Integer.toUnsignedLong(result), Hresult.symbol(result));
    }

    /** Returns the failure for a failed call; checks whether the device was removed. */
    public static NativeFailure of(String call, int result, long device) {
        int reason = D3d11.GetDeviceRemovedReason(device);
        boolean lost = isLoss(result) || Hresult.failed(reason);
        NativeFailure.Kind kind = lost
                ? NativeFailure.Kind.LOST
                : result == Hresult.E_OUTOFMEMORY ? NativeFailure.Kind.TRANSIENT : NativeFailure.Kind.PERMANENT;
        return new NativeFailure(error(call, result), kind, lost ? describe(reason) : "");
    }

    /** Returns the failure for a removed device. */
    public static NativeFailure removed(int reason, long device) {
        return of("ID3D11Device::GetDeviceRemovedReason", reason, device);
    }

    private static boolean isLoss(int result) {
        return switch (result) {
            case Hresult.DXGI_ERROR_DEVICE_REMOVED,
                    Hresult.DXGI_ERROR_DEVICE_HUNG,
                    Hresult.DXGI_ERROR_DEVICE_RESET,
                    Hresult.DXGI_ERROR_DRIVER_INTERNAL_ERROR,
                    Hresult.D3DDDIERR_DEVICEREMOVED -> true;
            default -> false;
        };
    }

    private static String describe(int reason) {
        return "the device is removed: GetDeviceRemovedReason -> " + Hresult.describe(reason);
    }

    /** Throws the exception for a failed call that is not a transfer; checks whether the device was removed. */
    public static void check(String request, String call, int result, long device) {
        if (Hresult.failed(result)) {
            throw exception(request, call, result, device);
        }
    }

    /** Returns the exception that {@link #check} throws. */
    public static PenstockException exception(String request, String call, int result, long device) {
        return of(call, result, device).exception(request);
    }

    /** Returns the exception for an unavailable backend, with the result that shows it. */
    public static BackendUnavailableException unavailable(String why, String call, int result) {
        NativeError error = error(call, result);
        return new BackendUnavailableException(why + ": " + error, new Failure(Outcome.NOT_STARTED, error), null);
    }

    public static BackendUnavailableException unavailable(String why) {
        return new BackendUnavailableException(why, Failure.NOT_STARTED, null);
    }
}
