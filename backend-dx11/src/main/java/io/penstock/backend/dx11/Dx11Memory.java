// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.D3d11Buffer;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.DeviceMemory;
import java.util.concurrent.atomic.AtomicLong;

/** A buffer of the device's, ours or the application's; this holds one reference of it. */
final class Dx11Memory implements DeviceMemory {

    static final AtomicLong LIVE = new AtomicLong();

    private final Dx11Device device;
    private final long buffer;
    private final long bytes;
    private final int usage;
    private final int bind;
    private final BufferTurns turns = new BufferTurns();

    /**
     * Takes over a reference.
     *
     * @param description of the buffer, a {@code D3D11_BUFFER_DESC}
     */
    Dx11Memory(Dx11Device device, long buffer, long bytes, int[] description) {
        this.device = device;
        this.buffer = buffer;
        this.bytes = bytes;
        this.usage = description[1];
        this.bind = description[2];
        device.join();
        LIVE.incrementAndGet();
    }

    /** Returns whether the processor writes it through a mapping, and the device never does. */
    boolean isDynamic() {
        return usage == D3d11Buffer.USAGE_DYNAMIC;
    }

    /** Returns whether it is the device's own, as AMD's manual has it in its sample. */
    boolean isDefault() {
        return usage == D3d11Buffer.USAGE_DEFAULT;
    }

    /** Returns who has it, copies or transfers of AMD's. */
    BufferTurns turns() {
        return turns;
    }

    /** Returns whether the driver takes bytes for it from anywhere. */
    boolean isUpdatable() {
        // Parts of constant buffers take no update before Direct3D 11.1.
        return usage == D3d11Buffer.USAGE_DEFAULT && (bind & D3d11Buffer.BIND_CONSTANT_BUFFER) == 0;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long nativeHandle() {
        return buffer;
    }

    @Override
    public long hostAddress() {
        return 0;
    }

    @Override
    public void free() {
        LIVE.decrementAndGet();
        Unknown.Release(buffer);
        device.leave();
    }
}
