// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.Failure;
import io.penstock.FenceSupport;
import io.penstock.ImageRegion;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.backend.dx11.ffi.D3d11Buffer;
import io.penstock.backend.dx11.ffi.D3d11Device;
import io.penstock.backend.dx11.ffi.D3d11DeviceChild;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Buffers and fences of one device, of which this is a user until it is closed. */
final class Dx11Driver implements DeviceDriver {

    /** What an UINT holds, less what rounding up to {@link #UNIT} may add. */
    private static final long MOST_BYTES = 0xffff_fff0L;

    /** Views of raw bytes take multiples of 4, and constant buffers of 16. */
    private static final long UNIT = 16;

    private final Dx11Device device;
    private final @Nullable Dx11Ssg ssg;
    private final Capabilities capabilities;

    /** Takes over one use of a device, and of AMD's interface where there are routes by it. */
    Dx11Driver(Dx11Device device, Dx11Routes routes) {
        this.device = device;
        this.ssg = routes.ssg();
        this.capabilities = new Capabilities(
                device.adapter().name(),
                device.adapter().hardware(),
                routes.paths(),
                FenceSupport.AFTER_STAGING,
                false,
                true,
                Set.of(device.toString(), "ends of copies by " + device.ends(), routes.ssgFact()));
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        String request = "allocation of " + bytes + " bytes";
        if (bytes > MOST_BYTES) {
            throw new PermanentStorageException(
                    request + " failed: a Direct3D 11 buffer has at most " + MOST_BYTES, Failure.NOT_STARTED, null);
        }
        long rounded = (Math.max(bytes, 1) + UNIT - 1) & -UNIT;
        int[] description = {
            (int) rounded,
            D3d11Buffer.USAGE_DEFAULT,
            D3d11Buffer.BIND_SHADER_RESOURCE,
            0,
            D3d11Buffer.MISC_ALLOW_RAW_VIEWS,
            0
        };
        long[] buffer = new long[1];
        int result = D3d11Device.CreateBuffer(device.handle(), description, 0, buffer);
        device.check(request, "ID3D11Device::CreateBuffer", result);
        return new Dx11Memory(device, buffer[0], bytes, description);
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        String what = "0x" + Long.toHexString(nativeHandle);
        long buffer = nativeHandle == 0 ? 0 : Unknown.as(nativeHandle, D3d11Buffer.TABLE);
        if (buffer == 0) {
            throw new IllegalArgumentException(what + " is no ID3D11Buffer");
        }
        try {
            return new Dx11Memory(device, buffer, bytes, check(what, buffer, bytes));
        } catch (RuntimeException e) {
            Unknown.Release(buffer);
            throw e;
        }
    }

    /** Returns its description. */
    private int[] check(String what, long buffer, long bytes) {
        long[] owner = new long[1];
        D3d11DeviceChild.GetDevice(buffer, owner);
        Unknown.Release(owner[0]);
        if (owner[0] != device.handle()) {
            throw new IllegalArgumentException(
                    "the ID3D11Buffer " + what + " is another device's: see " + Dx11Options.DEVICE);
        }
        int[] description = new int[6];
        D3d11Buffer.GetDesc(buffer, description);
        long length = Integer.toUnsignedLong(description[0]);
        if (bytes > length) {
            throw new IllegalArgumentException("the ID3D11Buffer " + what + " has " + length + " bytes, not " + bytes);
        }
        if (description[1] == D3d11Buffer.USAGE_IMMUTABLE) {
            throw new IllegalArgumentException("the ID3D11Buffer " + what + " is immutable");
        }
        return description;
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException(
                "Direct3D 11 has buffers of its own only: wrap an ID3D11Buffer, or open backend host for " + memory);
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
        Dx11Ssg held = ssg;
        if (held != null) {
            held.leave();
        }
        device.leave();
    }
}
