// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.spi.NativeFailure;

/** The calls that copies are made of; their failures are numbers that name call and answer. */
enum Dx11Call {
    GET_DATA(1, "ID3D11DeviceContext::GetData"),
    GET_REMOVED_REASON(2, "ID3D11Device::GetDeviceRemovedReason"),
    MAP(3, "ID3D11DeviceContext::Map"),
    /** Of a slot that was mapped before: without it nothing goes on, whatever the answer. */
    MAP_AGAIN(4, "ID3D11DeviceContext::Map"),
    SIGNAL(5, "ID3D11DeviceContext4::Signal");

    private static final Dx11Call[] ALL = values();

    private final long number;
    private final String vendorName;

    Dx11Call(long number, String vendorName) {
        this.number = number;
        this.vendorName = vendorName;
    }

    /** Returns the negative number for {@link #failure}. */
    long failed(int result) {
        return -(number << Integer.SIZE | Integer.toUnsignedLong(result));
    }

    /**
     * Returns what a number of {@link #failed} means.
     *
     * @param reason what the device says of its removal
     */
    static NativeFailure failure(long failed, int reason) {
        long told = -failed;
        for (Dx11Call call : ALL) {
            if (call.number == told >>> Integer.SIZE) {
                NativeFailure failure = Dx11Failure.of(call.vendorName, (int) told, reason);
                return call == MAP_AGAIN
                        ? new NativeFailure(failure.error(), NativeFailure.Kind.LOST, failure.note())
                        : failure;
            }
        }
        throw new IllegalArgumentException("no call of ours has failed with " + failed);
    }
}
