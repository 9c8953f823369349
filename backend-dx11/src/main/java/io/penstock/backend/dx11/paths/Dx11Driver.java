// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.paths;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.ImageRegion;
import io.penstock.Transfer;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.device.Dx11Fence;
import io.penstock.backend.dx11.device.Dx11Point;
import io.penstock.backend.dx11.memory.Dx11Image;
import io.penstock.backend.dx11.memory.Dx11Memory;
import io.penstock.backend.dx11.ssg.Dx11Ssg;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.IoPath;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Buffers and fences of one device; holds a reference to it until it is closed. */
final class Dx11Driver implements DeviceDriver {

    private final Dx11Device device;
    private final @Nullable Dx11Ssg ssg;
    private final Capabilities capabilities;

    /** Takes over one reference to the device, and to AMD's interface where paths use it. */
    Dx11Driver(Dx11Device device, Dx11Paths ioPaths) {
        this.device = device;
        this.ssg = ioPaths.ssg();
        this.capabilities = new Capabilities(
                device.adapter().name(),
                device.adapter().hardware(),
                IoPath.kinds(ioPaths.all()),
                FenceSupport.AFTER_STAGING,
                false,
                true,
                Set.of(device.toString(), "ends of copies by " + device.ends(), ioPaths.ssgFact()));
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        return new Dx11Memory(device, bytes);
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        return Dx11Memory.wrap(device, nativeHandle, bytes);
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException(
                "Direct3D 11 cannot wrap host memory: wrap an ID3D11Buffer, or open backend host for " + memory);
    }

    @Override
    public void checkImage(ImageRegion region) {
        Dx11Image.check(region.layout());
    }

    @Override
    public DeviceMemory image(ImageRegion region) {
        return Dx11Image.pin(device, region);
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        return Dx11Fence.of(device, nativeEvent);
    }

    @Override
    public @Nullable FencePoint fencePoint(Transfer transfer, boolean exposed) {
        return exposed ? new Dx11Point(device) : null;
    }

    @Override
    public void close() {
        if (ssg != null) {
            ssg.leave();
        }
        device.leave();
    }
}
