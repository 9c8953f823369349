// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A part of the memory that an emulated controller has mapped: its bus addresses are offsets in it.
 *
 * @param release run by {@code free}
 */
public record MemoryPart(ByteBuffer memory, long busAddress, long bytes, Runnable release) implements DmaMemory {

    @Override
    public long hostAddress() {
        return NativeMemory.address(memory) + busAddress;
    }

    @Override
    public ByteBuffer buffer(long offset, int length) {
        return memory.slice((int) (busAddress + offset), length).order(ByteOrder.nativeOrder());
    }

    @Override
    public void free() {
        release.run();
    }
}
