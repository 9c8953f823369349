// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.BackendUnavailableException;
import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.NativeFailure;

/** What an {@code HRESULT} means to whoever asked. */
final class Dx11Failure {

    private Dx11Failure() {}

    static NativeError error(String call, int result) {
        return new NativeError(call, Integer.toUnsignedLong(result), Hresult.symbol(result));
    }

    /**
     * Returns what a failed call means.
     *
     * @param reason what the device says of its removal; S_OK while it is there
     */
    static NativeFailure of(String call, int result, int reason) {
        boolean lost = isLoss(result) || Hresult.failed(reason);
        NativeFailure.Kind kind = lost
                ? NativeFailure.Kind.LOST
                : result == Hresult.E_OUTOFMEMORY ? NativeFailure.Kind.TRANSIENT : NativeFailure.Kind.PERMANENT;
        return new NativeFailure(error(call, result), kind, lost ? describe(reason) : "");
    }

    static boolean isLoss(int result) {
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

    /** Returns what to throw where something was asked of the device that is no transfer. */
    static PenstockException exception(String request, String call, int result, int reason) {
        NativeFailure failure = of(call, result, reason);
        String message = request + " failed: " + failure;
        Failure facts = new Failure(Outcome.NOT_STARTED, failure.error());
        return switch (failure.kind()) {
            case LOST -> new DeviceLostException(message, facts, null);
            case TRANSIENT, RETRY -> new TransientStorageException(message, facts, null);
            case PERMANENT, CANCELLED -> new PermanentStorageException(message, facts, null);
        };
    }

    static BackendUnavailableException unavailable(String why, String call, int result) {
        NativeError error = error(call, result);
        return new BackendUnavailableException(why + ": " + error, new Failure(Outcome.NOT_STARTED, error), null);
    }

    static BackendUnavailableException unavailable(String why) {
        return new BackendUnavailableException(why, Failure.NOT_STARTED, null);
    }
}
