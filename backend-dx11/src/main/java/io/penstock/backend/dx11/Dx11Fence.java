// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.D3d11DeviceChild;
import io.penstock.backend.dx11.ffi.D3d11Fence;
import io.penstock.backend.dx11.ffi.D3d11Query;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * An event query, or an {@code ID3D11Fence} on its way to {@link #VALUE}, of the application's, as a fence. Signals come
 * on the device's thread.
 *
 * <p><b>Ownership:</b> holds one reference, and the device, until it is closed and, where somebody waits, passed.
 */
final class Dx11Fence implements DeviceFence {

    /** The value at which an {@code ID3D11Fence} counts as passed: those that we hand out are made with 0 and go there. */
    static final long VALUE = 1;

    private static final int NOT_PASSED = Hresult.S_FALSE;

    private final Dx11Device device;
    private final long object;
    private final boolean isQuery;
    private final ByteBuffer data = ByteBuffer.allocateDirect(Integer.BYTES).order(ByteOrder.nativeOrder());
    private final Sinks.Empty<Void> passed = Sinks.empty();

    // Guarded by this.
    private boolean watched;
    private boolean closed;
    private int state = NOT_PASSED; // until it is known to be passed

    private Dx11Fence(Dx11Device device, long object, boolean isQuery) {
        this.device = device;
        this.object = object;
        this.isQuery = isQuery;
        device.join();
    }

    /**
     * Wraps what the application has.
     *
     * @throws IllegalArgumentException if it is neither of the two, or another device's
     */
    static Dx11Fence of(Dx11Device device, long nativeEvent) {
        String what = "0x" + Long.toHexString(nativeEvent);
        if (nativeEvent == 0) {
            throw new IllegalArgumentException(what + " is no query and no fence");
        }
        long query = Unknown.as(nativeEvent, D3d11Query.TABLE);
        long object = query != 0 ? query : Unknown.as(nativeEvent, D3d11Fence.TABLE);
        if (object == 0) {
            throw new IllegalArgumentException(what + " is no ID3D11Query and no ID3D11Fence");
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
                    what + " is no event query or fence of this device, but of kind " + description[0]);
        }
        return new Dx11Fence(device, object, query != 0);
    }

    @Override
    public boolean isSignalled() {
        return state() != NOT_PASSED;
    }

    /** Returns what Direct3D says of it; not asked again once it is passed. */
    private synchronized int state() {
        if (state == NOT_PASSED && !(closed && !watched)) {
            int reason = device.removedReason();
            state = Hresult.failed(reason) ? reason : isQuery ? askQuery() : askFence();
        }
        return state;
    }

    private int askQuery() {
        // Any thread: the context is protected.
        return D3d11Context.GetData(device.context(), object, NativeMemory.address(data), Integer.BYTES, 0);
    }

    private int askFence() {
        return Long.compareUnsigned(D3d11Fence.GetCompletedValue(object), VALUE) >= 0 ? Hresult.S_OK : NOT_PASSED;
    }

    @Override
    public Mono<Void> signalled() {
        return Mono.defer(() -> {
            if (!isSignalled()) {
                watch();
                return passed.asMono();
            }
            return Mono.empty();
        });
    }

    private void watch() {
        synchronized (this) {
            if (watched || closed) {
                return;
            }
            watched = true;
        }
        device.executor().watch(this);
    }

    /** Hears that the device has passed it, or is gone. */
    void passed() {
        boolean release;
        synchronized (this) {
            watched = false;
            release = closed;
        }
        passed.tryEmitEmpty();
        if (release) {
            release();
        }
    }

    /** {@inheritDoc} What the application brought has no transfer; a device that is lost fails here. */
    @Override
    public Mono<Completion> outcome() {
        return signalled().then(Mono.defer(() -> {
            int answer = state();
            return Hresult.failed(answer)
                    ? Mono.error(Dx11Failure.exception(
                            "a wait for " + this,
                            isQuery ? "ID3D11DeviceContext::GetData" : "ID3D11Fence::GetCompletedValue",
                            answer,
                            device.removedReason()))
                    : Mono.empty();
        }));
    }

    @Override
    public long nativeHandle() {
        return object;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (watched) {
                return; // passed() lets it go
            }
        }
        release();
    }

    private void release() {
        Unknown.Release(object);
        device.leave();
    }

    @Override
    public String toString() {
        return (isQuery ? "the ID3D11Query 0x" : "the ID3D11Fence 0x") + Long.toHexString(object);
    }
}
