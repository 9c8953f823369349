// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.NativeFailure;

/** The calls that can fail within a transfer. */
enum Dx11Call {
    GET_DATA("ID3D11DeviceContext::GetData"),
    GET_REMOVED_REASON("ID3D11Device::GetDeviceRemovedReason"),
    MAP("ID3D11DeviceContext::Map"),
    /** Of a slot that was mapped before: without it nothing goes on, whatever the answer. */
    MAP_AGAIN("ID3D11DeviceContext::Map"),
    SIGNAL("ID3D11DeviceContext4::Signal"),
    SSG_READ("IAmdDxExtSSG::ReadBufferFromFile"),
    SSG_WRITE("IAmdDxExtSSG::WriteBufferToFile"),
    SSG_CREATE_EVENT("IAmdDxExtSSG::CreateEvent"),
    /** Without it nobody knows whether the device still has file and buffer. */
    SSG_WAIT("IAmdDxExtSSG::WaitEvent");

    private final String vendorName;

    Dx11Call(String vendorName) {
        this.vendorName = vendorName;
    }

    /** Returns what the call's answer means; the device is asked whether it is still there. */
    NativeFailure failure(int result, Dx11Device device) {
        return failure(Dx11Failure.of(vendorName, result, device.removedReason()));
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
