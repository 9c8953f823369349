// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.memory;

import io.penstock.Failure;
import io.penstock.PermanentStorageException;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.spi.DeviceMemory;

/**
 * A buffer of the device, allocated by the backend or the application; holds one reference to it and one to the device.
 */
public class Dx11Memory implements DeviceMemory {

    /** The maximum of a UINT, less what rounding up to {@link #UNIT} may add. */
    private static final long MOST_BYTES = 0xffff_fff0L;

    /** Views of raw bytes require multiples of 4, and constant buffers of 16. */
    private static final long UNIT = 16;

    private final Dx11Device device;
    private final long buffer;
    private final long bytes;
    private final int usage;
    private final int bind;
    private final BufferTurns turns = new BufferTurns();

    /**
     * Allocates a buffer that shaders can read, of usage DEFAULT.
     *
     * @throws io.penstock.PenstockException with the device's error
     */
    public Dx11Memory(Dx11Device device, long bytes) {
        this(device, create(device, bytes), bytes, D3d11.USAGE_DEFAULT, D3d11.BIND_SHADER_RESOURCE);
    }

    /** Takes over a reference. */
    private Dx11Memory(Dx11Device device, long buffer, long bytes, int usage, int bind) {
        this.device = device;
        this.buffer = buffer;
        this.bytes = bytes;
        this.usage = usage;
        this.bind = bind;
        device.join();
        LiveObjects.add(Dx11Memory.class);
    }

    private static long create(Dx11Device device, long bytes) {
        String request = "allocation of " + bytes + " bytes";
        if (bytes > MOST_BYTES) {
            throw new PermanentStorageException(
                    request + " failed: a Direct3D 11 buffer has at most " + MOST_BYTES, Failure.NOT_STARTED, null);
        }
        long rounded = (Math.max(bytes, 1) + UNIT - 1) & -UNIT;
        int[] description = {
            (int) rounded, D3d11.USAGE_DEFAULT, D3d11.BIND_SHADER_RESOURCE, 0, D3d11.MISC_ALLOW_RAW_VIEWS, 0
        };
        long[] buffer = new long[1];
        int result = D3d11.CreateBuffer(device.handle(), description, 0, buffer);
        device.check(request, "ID3D11Device::CreateBuffer", result);
        return buffer[0];
    }

    /**
     * Takes a reference to a buffer of the application.
     *
     * @throws IllegalArgumentException if it is not a buffer of the device with at least {@code bytes}
     */
    public static Dx11Memory wrap(Dx11Device device, long nativeHandle, long bytes) {
        String what = "0x" + Long.toHexString(nativeHandle);
        long buffer = nativeHandle == 0 ? 0 : Com.as(nativeHandle, D3d11.BUFFER);
        if (buffer == 0) {
            throw new IllegalArgumentException(what + " is not an ID3D11Buffer");
        }
        int[] description = new int[6];
        D3d11.GetDesc(buffer, description);
        long length = Integer.toUnsignedLong(description[0]);
        String why = !device.owns(buffer)
                ? " belongs to another device: see " + Dx11Options.DEVICE
                : bytes > length
                        ? " has " + length + " bytes, not " + bytes
                        : description[1] == D3d11.USAGE_IMMUTABLE ? " is immutable" : "";
        if (!why.isEmpty()) {
            Com.Release(buffer);
            throw new IllegalArgumentException("the ID3D11Buffer " + what + why);
        }
        return new Dx11Memory(device, buffer, bytes, description[1], description[2]);
    }

    protected final Dx11Device device() {
        return device;
    }

    /** Returns true if it belongs to {@code other}. */
    public final boolean isOf(Dx11Device other) {
        return device == other;
    }

    /** Returns true if the processor writes it through a mapping, and the device never does. */
    public final boolean isDynamic() {
        return usage == D3d11.USAGE_DYNAMIC;
    }

    /** Returns true if its usage is DEFAULT, as in the sample of AMD's manual. */
    public final boolean isDefault() {
        return usage == D3d11.USAGE_DEFAULT;
    }

    /** Returns its lock between copies and transfers by AMD's interface. */
    public final BufferTurns turns() {
        return turns;
    }

    /** Returns true if the driver can update it from any host memory. */
    public final boolean isUpdatable() {
        // Before Direct3D 11.1, constant buffers cannot be updated in part.
        return isDefault() && (bind & D3d11.BIND_CONSTANT_BUFFER) == 0;
    }

    @Override
    public final long bytes() {
        return bytes;
    }

    @Override
    public final long nativeHandle() {
        return buffer;
    }

    @Override
    public final long hostAddress() {
        return 0;
    }

    @Override
    public void free() {
        LiveObjects.remove(Dx11Memory.class);
        Com.Release(buffer);
        device.leave();
    }
}
