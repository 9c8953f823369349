// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.backend.dx11.ffi.Com;
import io.penstock.engine.spi.FencePoint;

/**
 * The position of a transfer in the order of a device: behind its copies, which are all issued to the one immediate
 * context.
 */
public final class Dx11Point implements FencePoint {

    private final Dx11Device device;
    private volatile long fence;
    private volatile boolean used; // holds a reference to the device

    /** Creates a point; makes no native call. */
    public Dx11Point(Dx11Device device) {
        this.device = device;
    }

    @Override
    public void place(Runnable placed) {
        device.join();
        used = true;
        boolean runs = device.executor().execute(() -> {
            fence = device.ends().fence();
            placed.run();
        });
        if (!runs) {
            placed.run();
        }
    }

    @Override
    public long nativeHandle() {
        return fence;
    }

    @Override
    public void free() {
        if (!used) {
            return;
        }
        long held = fence;
        if (held != 0) {
            Com.Release(held);
        }
        device.leave();
    }
}
