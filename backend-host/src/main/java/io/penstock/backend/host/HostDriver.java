// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.TransferPath;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import java.util.Set;

/** Host memory as a device: slabs shared by all backends of the process, or memory imported from the application. */
final class HostDriver implements DeviceDriver {

    @Override
    public Capabilities capabilities() {
        return new Capabilities(
                "host memory", true, Set.of(TransferPath.HOST), FenceSupport.HOST_ONLY, true, false, Set.of());
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        return Slabs.shared().allocate(Math.max(bytes, 1));
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        if (nativeHandle == 0) {
            throw new IllegalArgumentException("address 0 cannot be wrapped");
        }
        return HostMemory.wrap(nativeHandle, bytes);
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        return HostMemory.wrap(memory);
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        throw new IllegalArgumentException("host memory has no native fences");
    }

    @Override
    public void close() {
        Slabs.shared().trim();
    }
}
