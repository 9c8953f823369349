// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.BackendUnavailableException;
import io.penstock.Options;
import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.D3d11Device;
import io.penstock.backend.dx11.ffi.D3d11Multithread;
import io.penstock.backend.dx11.ffi.DxgiDevice;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.ffi.Unknown;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A device that one backend works on, ours or the application's, its immediate context and the thread that makes calls
 * there.
 *
 * <p><b>Threading:</b> the context is protected ({@code ID3D11Multithread}), so that an application that draws on its own
 * device, and whoever asks whether a fence has passed, may call it beside our thread; copies are our thread's alone.
 *
 * <p><b>Ownership:</b> the backend, and whatever is allocated on the device, counts as a user; the last to
 * {@link #leave} ends the thread and releases what we hold of the device.
 */
final class Dx11Device {

    /** Devices, contexts and what else is held by {@link Dx11Device}s, for tests of leaks. */
    static final AtomicLong LIVE = new AtomicLong();

    private final long device;
    private final long context;
    private final Adapter adapter;
    private final boolean owned;
    private final CopyEnds ends;
    private final Dx11Executor executor;
    private final Dx11Slots slots = new Dx11Slots(this);
    private int users = 1; // guarded by this

    private Dx11Device(long device, long context, boolean owned, CopyEnd end) {
        this.device = device;
        this.context = context;
        this.owned = owned;
        this.adapter = adapter(device);
        this.ends = CopyEnds.of(this, end);
        try {
            this.executor = Dx11Executor.start(this);
        } catch (RuntimeException | Error e) {
            ends.close();
            throw e;
        }
        LIVE.incrementAndGet();
    }

    /**
     * Opens the device that options name, as its first user.
     *
     * @throws BackendUnavailableException if there is no Direct3D, no such adapter, or its device does not do
     */
    static Dx11Device open(Options options) {
        DeviceChoice choice = DeviceChoice.of(options);
        String why = DeviceChoice.load(options);
        if (!why.isEmpty()) {
            throw Dx11Failure.unavailable(why);
        }
        long device = choice.application() == 0 ? create(choice) : adopt(choice.application());
        long[] context = new long[1];
        D3d11Device.GetImmediateContext(device, context);
        try {
            protect(device, context[0]);
            return new Dx11Device(device, context[0], choice.application() == 0, options.get(Dx11Options.COPY_END));
        } catch (RuntimeException e) {
            Unknown.Release(context[0]);
            Unknown.Release(device);
            throw e;
        }
    }

    private static long create(DeviceChoice choice) {
        long[] device = new long[1];
        int result = choice.isWarp()
                ? Adapter.createWarpDevice(device)
                : choice.among(Adapter.all()).createDevice(device);
        if (Hresult.failed(result)) {
            throw Dx11Failure.unavailable("no device", "D3D11CreateDevice", result);
        }
        return device[0];
    }

    private static long adopt(long application) {
        long device = Unknown.as(application, D3d11Device.TABLE);
        if (device == 0) {
            throw Dx11Failure.unavailable(
                    Dx11Options.DEVICE + "=0x" + Long.toHexString(application) + " is no ID3D11Device");
        }
        if ((D3d11Device.GetCreationFlags(device) & D3d11Device.CREATE_SINGLETHREADED) != 0) {
            Unknown.Release(device);
            throw Dx11Failure.unavailable(
                    "the application's device was made with D3D11_CREATE_DEVICE_SINGLETHREADED, and copies come from"
                            + " a thread of ours");
        }
        return device;
    }

    private static void protect(long device, long context) {
        long multithread = Unknown.as(context, D3d11Multithread.TABLE);
        if (multithread == 0) {
            multithread = Unknown.as(device, D3d11Multithread.TABLE); // where it was before Windows 10
        }
        if (multithread == 0) {
            throw Dx11Failure.unavailable("this device has no ID3D11Multithread, so that its context cannot be shared");
        }
        D3d11Multithread.SetMultithreadProtected(multithread, 1);
        Unknown.Release(multithread);
    }

    private static Adapter adapter(long device) {
        long dxgi = Unknown.as(device, DxgiDevice.TABLE);
        long[] adapter = new long[1];
        int result = dxgi == 0 ? Hresult.E_NOINTERFACE : DxgiDevice.GetAdapter(dxgi, adapter);
        if (dxgi != 0) {
            Unknown.Release(dxgi);
        }
        if (Hresult.failed(result)) {
            throw Dx11Failure.unavailable("the device's adapter", "IDXGIDevice::GetAdapter", result);
        }
        try {
            return Adapter.describe(-1, adapter[0]);
        } finally {
            Unknown.Release(adapter[0]);
        }
    }

    /** Counts one more user; only for one that there is a user of. */
    synchronized void join() {
        if (users == 0) {
            throw new IllegalStateException(this + " has no user any more");
        }
        users++;
    }

    /** Counts one user less; the last to leave ends the thread and lets the device go. */
    void leave() {
        synchronized (this) {
            if (--users > 0) {
                return;
            }
        }
        slots.close();
        if (!executor.end()) {
            return; // it hangs in the driver, with the device
        }
        ends.close();
        if (owned) {
            D3d11Context.Flush(context); // what we have released is destroyed when the device comes to it
        }
        Unknown.Release(context);
        Unknown.Release(device);
        LIVE.decrementAndGet();
    }

    /** Returns what the device says of its removal; S_OK while it is there. */
    int removedReason() {
        return D3d11Device.GetDeviceRemovedReason(device);
    }

    /** Goes on unless a call failed; else throws what its answer means. */
    void check(String request, String call, int result) {
        if (Hresult.failed(result)) {
            throw Dx11Failure.exception(request, call, result, removedReason());
        }
    }

    long handle() {
        return device;
    }

    long context() {
        return context;
    }

    Adapter adapter() {
        return adapter;
    }

    CopyEnds ends() {
        return ends;
    }

    Dx11Executor executor() {
        return executor;
    }

    Dx11Slots slots() {
        return slots;
    }

    @Override
    public String toString() {
        return (owned ? "own device on " : "the application's device on ") + adapter.name();
    }
}
