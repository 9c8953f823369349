// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.FencePoint;

/** The place of a transfer in the order of a device: behind its copies, which all go to the one immediate context. */
final class Dx11Point implements FencePoint {

    private final Dx11Device device;
    private volatile long fence;
    private volatile boolean used; // counted as a user of the device

    /** Makes one; no native call. */
    Dx11Point(Dx11Device device) {
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
            Unknown.Release(held);
        }
        device.leave();
    }
}
