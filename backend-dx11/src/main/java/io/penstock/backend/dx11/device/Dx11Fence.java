// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.kit.fence.EventFence;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An event query, or an {@code ID3D11Fence} that will reach {@link CopyCompletions#FENCE_VALUE}, imported from the
 * application as a fence. Signals are delivered on the device's thread.
 *
 * <p><b>Ownership:</b> holds one reference to it and one to the device, until it is closed and signalled.
 */
public final class Dx11Fence extends EventFence {

    private final Dx11Device device;
    private final boolean isQuery;
    private final ByteBuffer data = ByteBuffer.allocateDirect(Integer.BYTES).order(ByteOrder.nativeOrder());

    private Dx11Fence(Dx11Device device, long object, boolean isQuery) {
        super(object, true);
        this.device = device;
        this.isQuery = isQuery;
        device.join();
    }

    /**
     * Imports a query or fence of the application.
     *
     * @throws IllegalArgumentException if it is neither of the two, or belongs to another device
     */
    public static Dx11Fence of(Dx11Device device, long nativeEvent) {
        String what = "0x" + Long.toHexString(nativeEvent);
        if (nativeEvent == 0) {
            throw new IllegalArgumentException(what + " is neither a query nor a fence");
        }
        long query = Com.as(nativeEvent, D3d11.Query.TABLE);
        long object = query != 0 ? query : Com.as(nativeEvent, D3d11.FENCE);
        if (object == 0) {
            throw new IllegalArgumentException(what + " is neither an ID3D11Query nor an ID3D11Fence");
        }
        int[] description = new int[2];
        if (query != 0) {
            D3d11.Query.GetDesc(query, description);
        }
        if (description[0] != D3d11.Query.EVENT || !device.owns(object)) {
            Com.Release(object);
            throw new IllegalArgumentException(
                    what + " is not an event query or fence of this device, but of kind " + description[0]);
        }
        return new Dx11Fence(device, object, query != 0);
    }

    @Override
    protected int query() {
        int reason = D3d11.GetDeviceRemovedReason(device.handle());
        return Hresult.failed(reason) ? reason : isQuery ? pollQuery() : pollFence();
    }

    private int pollQuery() {
        // Any thread: the context is protected.
        int answer = D3d11.GetData(device.context(), nativeHandle(), NativeMemory.address(data), Integer.BYTES, 0);
        return answer == Hresult.S_FALSE ? PENDING : answer;
    }

    private int pollFence() {
        long value = D3d11.GetCompletedValue(nativeHandle());
        return Long.compareUnsigned(value, CopyCompletions.FENCE_VALUE) >= 0 ? Hresult.S_OK : PENDING;
    }

    @Override
    protected void watch() {
        device.executor().watch(this);
    }

    @Override
    protected void free() {
        Com.Release(nativeHandle());
        device.leave();
    }

    @Override
    protected RuntimeException failure(int code) {
        return Dx11Failure.exception(
                "a wait for " + this,
                isQuery ? "ID3D11DeviceContext::GetData" : "ID3D11Fence::GetCompletedValue",
                code,
                device.handle());
    }

    @Override
    public String toString() {
        return (isQuery ? "the ID3D11Query 0x" : "the ID3D11Fence 0x") + Long.toHexString(nativeHandle());
    }
}
