// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.host.SlotBytes;
import io.penstock.engine.spi.DeviceMemory;

/** A slot of a pool: its memory, and how files are read into it and written from it. */
record Slot(DeviceMemory memory, SlotBytes bytes) {

    /** Gives both back; nothing native uses the memory. */
    void free() {
        bytes.close(); // memory is freed when the kernel no longer knows it
        memory.free();
    }
}
