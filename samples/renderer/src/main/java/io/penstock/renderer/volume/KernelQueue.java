// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.Backend;
import io.penstock.DeviceFence;

/** Kernels in the application's own queue, in the context of a backend's memory. */
public interface KernelQueue extends Kernels, AutoCloseable {

    /** Returns a fence behind all work enqueued so far. */
    DeviceFence fence(Backend backend);

    /** Waits for all enqueued work; close it before the backend. */
    @Override
    void close();
}
