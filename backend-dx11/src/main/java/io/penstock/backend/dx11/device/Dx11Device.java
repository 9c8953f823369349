// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.BackendUnavailableException;
import io.penstock.Options;
import io.penstock.backend.dx11.CopyCompletion;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Dxgi;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.SharedContext;
import io.penstock.engine.spi.Shared;

/**
 * The device of one backend, its own or the application's, its immediate context and the thread that makes calls there.
 *
 * <p><b>Threading:</b> the context is protected ({@code ID3D11Multithread}), so an application that draws on its own
 * device, and polls of fences, may call it concurrently with the executor; only the executor issues copies.
 *
 * <p><b>Ownership:</b> the backend and each object allocated on the device are users; the last to {@link #leave}
 * terminates the thread and releases the device's COM references.
 */
public final class Dx11Device extends SharedContext<Dx11Device> {

    private static final Shared<Object, Dx11Device> OPEN = new Shared<>(Dx11Device::close); // each by a key of its own

    private final long device;
    private final long context;
    private final Adapter adapter;
    private final boolean owned;
    private final CopyCompletions ends;
    private final Dx11Executor executor;

    private Dx11Device(long device, long context, boolean owned, CopyCompletion end) {
        super(OPEN);
        this.device = device;
        this.context = context;
        this.owned = owned;
        this.adapter = adapter(device);
        this.ends = ends(device, context, end);
        try {
            this.executor = Dx11Executor.start(ends);
        } catch (RuntimeException | Error e) {
            ends.close();
            throw e;
        }
        LiveObjects.add(Dx11Device.class);
    }

    /**
     * Opens the device that the options select, with one user.
     *
     * @throws BackendUnavailableException if there is no Direct3D, no such adapter, or its device is unsuitable
     */
    public static Dx11Device open(Options options) {
        return OPEN.open(new Object(), () -> make(options));
    }

    private static Dx11Device make(Options options) {
        DeviceChoice choice = DeviceChoice.of(options);
        String why = DeviceChoice.load(options);
        if (!why.isEmpty()) {
            throw Dx11Failure.unavailable(why);
        }
        long device = choice.application() == 0 ? create(choice) : adopt(choice.application());
        long[] context = new long[1];
        D3d11.GetImmediateContext(device, context);
        try {
            protect(device, context[0]);
            return new Dx11Device(
                    device, context[0], choice.application() == 0, options.get(Dx11Options.COPY_COMPLETION));
        } catch (RuntimeException | Error e) {
            Com.Release(context[0]);
            Com.Release(device);
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
        long device = Com.as(application, D3d11.DEVICE);
        if (device == 0) {
            throw Dx11Failure.unavailable(
                    Dx11Options.DEVICE + "=0x" + Long.toHexString(application) + " is not an ID3D11Device");
        }
        if ((D3d11.GetCreationFlags(device) & D3d11.CREATE_SINGLETHREADED) != 0) {
            Com.Release(device);
            throw Dx11Failure.unavailable(
                    "the application's device was made with D3D11_CREATE_DEVICE_SINGLETHREADED, but copies are made by"
                            + " another thread");
        }
        return device;
    }

    private static void protect(long device, long context) {
        long multithread = Com.as(context, D3d11.MULTITHREAD);
        if (multithread == 0) {
            multithread = Com.as(device, D3d11.MULTITHREAD); // its location before Windows 10
        }
        if (multithread == 0) {
            throw Dx11Failure.unavailable("this device has no ID3D11Multithread, so that its context cannot be shared");
        }
        D3d11.SetMultithreadProtected(multithread, 1);
        Com.Release(multithread);
    }

    private static CopyCompletions ends(long device, long context, CopyCompletion wanted) {
        CopyCompletions fence = wanted == CopyCompletion.QUERY ? null : FenceCompletions.open(device, context);
        if (fence == null && wanted == CopyCompletion.FENCE) {
            throw Dx11Failure.unavailable(Dx11Options.COPY_COMPLETION
                    + "=fence, but this device has no ID3D11Device5: fences came with Windows 10 1703");
        }
        return fence != null ? fence : new QueryCompletions(device, context);
    }

    private static Adapter adapter(long device) {
        long dxgi = Com.as(device, Dxgi.DEVICE);
        long[] adapter = new long[1];
        int result = dxgi == 0 ? Hresult.E_NOINTERFACE : Dxgi.GetAdapter(dxgi, adapter);
        if (dxgi != 0) {
            Com.Release(dxgi);
        }
        if (Hresult.failed(result)) {
            throw Dx11Failure.unavailable("the device's adapter", "IDXGIDevice::GetAdapter", result);
        }
        try {
            return Adapter.describe(-1, adapter[0]);
        } finally {
            Com.Release(adapter[0]);
        }
    }

    @Override
    protected void free() {
        if (!executor.end()) {
            return; // it hangs in a driver call that uses the device
        }
        ends.close();
        if (owned) {
            D3d11.Flush(context); // released objects are destroyed later, by the device
        }
        Com.Release(context);
        Com.Release(device);
        LiveObjects.remove(Dx11Device.class);
    }

    /** Returns whether an {@code ID3D11DeviceChild} belongs to this device. */
    public boolean owns(long child) {
        long[] owner = new long[1];
        D3d11.GetDevice(child, owner);
        Com.Release(owner[0]);
        return owner[0] == device;
    }

    /** Throws the exception for a failed call that is not a transfer. */
    public void check(String request, String call, int result) {
        Dx11Failure.check(request, call, result, device);
    }

    /** Issues a copy of bytes from one buffer to another, with the box of a mark; called on the executor. */
    public void copy(CopyMark mark, long to, long toOffset, long from, long fromOffset, long bytes) {
        long box = mark.box(fromOffset, fromOffset + bytes);
        D3d11.CopySubresourceRegion(context, to, 0, (int) toOffset, 0, 0, from, 0, box);
    }

    /** Returns the {@code ID3D11Device}. */
    public long handle() {
        return device;
    }

    /** Returns its immediate context. */
    public long context() {
        return context;
    }

    public Adapter adapter() {
        return adapter;
    }

    /** Returns how the completion of its copies is detected. */
    public CopyCompletions ends() {
        return ends;
    }

    /** Returns its thread. */
    public Dx11Executor executor() {
        return executor;
    }

    @Override
    public String toString() {
        return (owned ? "own device on " : "the application's device on ") + adapter.name();
    }
}
