// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.D3d11Context4;
import io.penstock.backend.dx11.ffi.D3d11Device5;
import io.penstock.backend.dx11.ffi.D3d11Fence;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.NativeFailure;
import org.jspecify.annotations.Nullable;

/** Marks that are the values of one {@code ID3D11Fence}, which count up: looks at them call no driver, and they ring. */
final class FenceEnds implements CopyEnds {

    private final Dx11Device device;
    private final long device5;
    private final long context4;
    private final long fence;
    private long issued; // the last value that was sent behind copies
    private long rung; // the value that the thread's event is set at
    private boolean flushed = true;

    private FenceEnds(Dx11Device device, long device5, long context4, long fence) {
        this.device = device;
        this.device5 = device5;
        this.context4 = context4;
        this.fence = fence;
    }

    /** Takes over two references. */
    static FenceEnds open(Dx11Device device, long device5, long context4) {
        long[] fence = new long[1];
        int result = D3d11Device5.CreateFence(device5, 0, 0, D3d11Fence.TABLE.id(), fence);
        if (Hresult.failed(result)) {
            Unknown.Release(device5);
            Unknown.Release(context4);
            throw Dx11Failure.unavailable("no fence for the ends of copies", "ID3D11Device5::CreateFence", result);
        }
        return new FenceEnds(device, device5, context4, fence[0]);
    }

    @Override
    public void equip(CopyMark mark) {
        // a value is all that it needs
    }

    @Override
    public void strip(CopyMark mark) {
        // as above
    }

    @Override
    public @Nullable NativeFailure mark(CopyMark mark) {
        int result = D3d11Context4.Signal(context4, fence, issued + 1);
        if (Hresult.failed(result)) {
            return Dx11Call.SIGNAL.failure(result, device);
        }
        mark.passed = ++issued;
        mark.looks = 0;
        mark.failure = null;
        flushed = false;
        return null;
    }

    @Override
    public boolean look(CopyMark mark) {
        if (!flushed) {
            flushed = true; // one for all that were issued since
            D3d11Context.Flush(device.context());
        }
        long passed = D3d11Fence.GetCompletedValue(fence);
        if (passed == D3d11Fence.LOST || ++mark.looks % LOOKS == 0) {
            int reason = device.removedReason();
            if (Hresult.failed(reason) || passed == D3d11Fence.LOST) {
                int why = Hresult.failed(reason) ? reason : Hresult.DXGI_ERROR_DEVICE_REMOVED;
                mark.failure = Dx11Call.GET_REMOVED_REASON.failure(why, device);
                return true;
            }
        }
        return passed >= mark.passed;
    }

    @Override
    public boolean ring(long event) {
        long next = D3d11Fence.GetCompletedValue(fence) + 1;
        if (next == rung) {
            return true;
        }
        rung = next;
        return !Hresult.failed(D3d11Fence.SetEventOnCompletion(fence, next, event));
    }

    @Override
    public long fence() {
        long[] made = new long[1];
        if (Hresult.failed(D3d11Device5.CreateFence(device5, 0, 0, D3d11Fence.TABLE.id(), made))) {
            return 0;
        }
        if (Hresult.failed(D3d11Context4.Signal(context4, made[0], Dx11Fence.VALUE))) {
            Unknown.Release(made[0]);
            return 0;
        }
        D3d11Context.Flush(device.context());
        return made[0];
    }

    @Override
    public void close() {
        Unknown.Release(fence);
        Unknown.Release(context4);
        Unknown.Release(device5);
    }

    @Override
    public String toString() {
        return "an ID3D11Fence";
    }
}
