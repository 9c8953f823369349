// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

/** The same backend over a device whose copies end later. */
public final class QueuedProvider extends MemoryProvider {

    @Override
    public String name() {
        return "memory-queued";
    }

    @Override
    MemoryDevice device() {
        return new QueuedDevice();
    }
}
