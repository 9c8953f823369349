// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.NativeFailure;

/** The calls that copies are made of; their failures are numbers that name call and answer. */
enum Dx11Call {
    GET_DATA(1, "ID3D11DeviceContext::GetData"),
    GET_REMOVED_REASON(2, "ID3D11Device::GetDeviceRemovedReason"),
    MAP(3, "ID3D11DeviceContext::Map"),
    /** Of a slot that was mapped before: without it nothing goes on, whatever the answer. */
    MAP_AGAIN(4, "ID3D11DeviceContext::Map"),
    SIGNAL(5, "ID3D11DeviceContext4::Signal"),
    SSG_READ(6, "IAmdDxExtSSG::ReadBufferFromFile"),
    SSG_WRITE(7, "IAmdDxExtSSG::WriteBufferToFile"),
    SSG_CREATE_EVENT(8, "IAmdDxExtSSG::CreateEvent"),
    /** Without it nobody knows whether the device still has file and buffer. */
    SSG_WAIT(9, "IAmdDxExtSSG::WaitEvent");

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
                return call.failure(Dx11Failure.of(call.vendorName, (int) told, reason));
            }
        }
        throw new IllegalArgumentException("no call of ours has failed with " + failed);
    }

    private NativeFailure failure(NativeFailure plain) {
        boolean lost = plain.kind() == NativeFailure.Kind.LOST;
        return switch (this) {
            case MAP_AGAIN -> new NativeFailure(plain.error(), NativeFailure.Kind.LOST, plain.note());
            case SSG_WAIT ->
                new NativeFailure(
                        plain.error(),
                        NativeFailure.Kind.LOST,
                        "whether the transfer has ended is not known, so file and buffer are kept for good");
            case SSG_READ, SSG_WRITE ->
                lost || plain.error().code() != Integer.toUnsignedLong(Hresult.E_FAIL)
                        ? plain
                        : new NativeFailure(
                                plain.error(),
                                plain.kind(),
                                "bounds and alignment were right: the driver cannot access the file there");
            default -> plain;
        };
    }
}
