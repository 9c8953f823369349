// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.engine.spi.DeviceMemory;

/** A range of an application's buffer where the processor finds it while it is mapped; set again and again. */
final class MappedRange implements DeviceMemory {

    private long address;
    private long bytes;

    void set(long address, long bytes) {
        this.address = address;
        this.bytes = bytes;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long nativeHandle() {
        return address;
    }

    @Override
    public long hostAddress() {
        return address;
    }

    @Override
    public void free() {
        // unmapped by whoever has mapped it
    }
}
