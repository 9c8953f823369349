// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.Capabilities;
import io.penstock.FenceSupport;
import io.penstock.TransferPath;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.nio.ByteBuffer;
import java.util.Set;

/** The device: allocates memory, and copies between it and staging buffers. Its copies have ended when they return. */
class MemoryDevice implements DeviceDriver, StagingDevice {

    @Override
    public Capabilities capabilities() {
        Set<TransferPath> paths = Set.of(TransferPath.STAGED);
        return new Capabilities("heap", false, paths, FenceSupport.HOST_ONLY, false, false, Set.of());
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        return new HeapMemory(bytes);
    }

    @Override
    public ThreadRule threads() {
        return ThreadRule.MANY; // any thread may copy
    }

    @Override
    public void copy(Request copy) {
        move(copy);
        copy.complete(copy.bytes());
    }

    static void move(Request copy) {
        ByteBuffer memory = ((HeapMemory) copy.memory()).at(copy.memoryOffset(), copy.bytes());
        ByteBuffer staging = StagingDevice.bytes(copy);
        if (copy.isInward()) {
            memory.put(staging);
        } else {
            staging.put(memory);
        }
    }
}
