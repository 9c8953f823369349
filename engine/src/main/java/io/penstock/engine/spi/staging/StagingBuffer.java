// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.host.blocking.BufferBytes;
import io.penstock.engine.spi.DeviceMemory;

/** A staging buffer of a pool: its memory, and how files are read into it and written from it. */
record StagingBuffer(DeviceMemory memory, BufferBytes bytes) {

    /** Frees both; no native code uses the memory. */
    void free() {
        bytes.close(); // memory is freed once the kernel has unregistered it
        memory.free();
    }
}
