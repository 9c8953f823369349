// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.fence;

import io.penstock.backend.dx11.device.CopyCompletions;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.device.Dx11Failure;
import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.D3d11Device;
import io.penstock.backend.dx11.ffi.D3d11DeviceChild;
import io.penstock.backend.dx11.ffi.D3d11Fence;
import io.penstock.backend.dx11.ffi.D3d11Query;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.fence.EventFence;
import io.penstock.engine.spi.ffi.NativeMemory;
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
        long query = Unknown.as(nativeEvent, D3d11Query.TABLE);
        long object = query != 0 ? query : Unknown.as(nativeEvent, D3d11Fence.TABLE);
        if (object == 0) {
            throw new IllegalArgumentException(what + " is neither an ID3D11Query nor an ID3D11Fence");
        }
        int[] description = new int[2];
        if (query != 0) {
            D3d11Query.GetDesc(query, description);
        }
        long[] owner = new long[1];
        D3d11DeviceChild.GetDevice(object, owner);
        Unknown.Release(owner[0]);
        if (description[0] != D3d11Query.EVENT || owner[0] != device.handle()) {
            Unknown.Release(object);
            throw new IllegalArgumentException(
                    what + " is not an event query or fence of this device, but of kind " + description[0]);
        }
        return new Dx11Fence(device, object, query != 0);
    }

    @Override
    protected int query() {
        int reason = D3d11Device.GetDeviceRemovedReason(device.handle());
        return Hresult.failed(reason) ? reason : isQuery ? pollQuery() : pollFence();
    }

    private int pollQuery() {
        // Any thread: the context is protected.
        int answer =
                D3d11Context.GetData(device.context(), nativeHandle(), NativeMemory.address(data), Integer.BYTES, 0);
        return answer == Hresult.S_FALSE ? PENDING : answer;
    }

    private int pollFence() {
        long value = D3d11Fence.GetCompletedValue(nativeHandle());
        return Long.compareUnsigned(value, CopyCompletions.FENCE_VALUE) >= 0 ? Hresult.S_OK : PENDING;
    }

    @Override
    protected void watch() {
        device.executor().watch(this);
    }

    @Override
    protected void free() {
        Unknown.Release(nativeHandle());
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
