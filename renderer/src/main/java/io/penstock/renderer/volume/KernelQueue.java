// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.Backend;
import io.penstock.DeviceFence;

/** Kernels in a queue of the application's own, beside the memory of a backend. */
public interface KernelQueue extends Kernels, AutoCloseable {

    /** Returns a fence behind everything that was ordered so far. */
    DeviceFence fence(Backend backend);

    /** Waits for what was ordered; before the backend is closed. */
    @Override
    void close();
}
