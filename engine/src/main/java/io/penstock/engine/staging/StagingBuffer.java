// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Backend.StagingState;
import io.penstock.engine.host.blocking.BufferBytes;
import io.penstock.engine.spi.DeviceMemory;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A staging buffer of a pool.
 *
 * @param memory its memory
 * @param bytes how files are read into it and written from it
 * @param state what it is used for; set by the holder of its request, in no order with anything else
 */
record StagingBuffer(DeviceMemory memory, BufferBytes bytes, AtomicReference<StagingState> state) {

    StagingBuffer(DeviceMemory memory, BufferBytes bytes) {
        this(memory, bytes, new AtomicReference<>(StagingState.FREE));
    }

    /** Frees both; no native code uses the memory. */
    void free() {
        bytes.close(); // memory is freed once the kernel has unregistered it
        memory.free();
    }
}
