// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.NativeFailure;
import org.jspecify.annotations.Nullable;

/**
 * Marks that are increasing values of one {@code ID3D11Fence}: polling them makes no driver call, and they can set an
 * event.
 */
final class FenceCompletions implements CopyCompletions {

    private final long device;
    private final long context;
    private final long device5;
    private final long context4;
    private final long fence;
    private long issued; // the last value signalled behind copies
    private long rung; // the value at which the thread's event is set
    private boolean flushed = true;

    /** Takes over the references, except for the first two, which are borrowed. */
    private FenceCompletions(long device, long context, long device5, long context4, long fence) {
        this.device = device;
        this.context = context;
        this.device5 = device5;
        this.context4 = context4;
        this.fence = fence;
    }

    /**
     * Opens the marks of a device, which outlives them; null if it does not support fences.
     *
     * @throws io.penstock.BackendUnavailableException if it supports fences but fails to create one
     */
    static @Nullable FenceCompletions open(long device, long context) {
        long device5 = Com.as(device, D3d11.DEVICE_5);
        long context4 = Com.as(context, D3d11.CONTEXT_4);
        if (device5 == 0 || context4 == 0) {
            release(device5);
            release(context4);
            return null;
        }
        long[] fence = new long[1];
        int result = D3d11.CreateFence(device5, 0, 0, D3d11.FENCE.id(), fence);
        if (Hresult.failed(result)) {
            release(device5);
            release(context4);
            throw Dx11Failure.unavailable("no fence for the ends of copies", "ID3D11Device5::CreateFence", result);
        }
        return new FenceCompletions(device, context, device5, context4, fence[0]);
    }

    private static void release(long object) {
        if (object != 0) {
            Com.Release(object);
        }
    }

    @Override
    public @Nullable NativeFailure mark(CopyMark mark) {
        int result = D3d11.Signal(context4, fence, issued + 1);
        if (Hresult.failed(result)) {
            return Dx11Failure.of("ID3D11DeviceContext4::Signal", result, device);
        }
        mark.value = ++issued;
        mark.polls = 0;
        mark.failure = null;
        flushed = false;
        return null;
    }

    @Override
    public boolean poll(CopyMark mark) {
        if (!flushed) {
            flushed = true; // one for all issued since
            D3d11.Flush(context);
        }
        long value = D3d11.GetCompletedValue(fence);
        if (value == D3d11.FENCE_LOST || ++mark.polls % POLLS_PER_CHECK == 0) {
            int reason = D3d11.GetDeviceRemovedReason(device);
            if (Hresult.failed(reason) || value == D3d11.FENCE_LOST) {
                int why = Hresult.failed(reason) ? reason : Hresult.DXGI_ERROR_DEVICE_REMOVED;
                mark.failure = Dx11Failure.removed(why, device);
                return true;
            }
        }
        return value >= mark.value;
    }

    @Override
    public boolean ring(long event) {
        long next = D3d11.GetCompletedValue(fence) + 1;
        if (next == rung) {
            return true;
        }
        boolean rings = !Hresult.failed(D3d11.SetEventOnCompletion(fence, next, event));
        rung = rings ? next : 0; // the first value is 1: the next call tries again
        return rings;
    }

    @Override
    public long fence() {
        long[] made = new long[1];
        if (Hresult.failed(D3d11.CreateFence(device5, 0, 0, D3d11.FENCE.id(), made))) {
            return 0;
        }
        if (Hresult.failed(D3d11.Signal(context4, made[0], FENCE_VALUE))) {
            Com.Release(made[0]);
            return 0;
        }
        D3d11.Flush(context);
        return made[0];
    }

    @Override
    public void close() {
        Com.Release(fence);
        Com.Release(context4);
        Com.Release(device5);
    }

    @Override
    public String toString() {
        return "an ID3D11Fence";
    }
}
