// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Dxgi;
import io.penstock.backend.dx11.ffi.Hresult;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

/**
 * An adapter that DXGI lists.
 *
 * @param index its DXGI index
 * @param name the driver's name for it
 * @param memoryBytes its dedicated memory
 * @param hardware true if it is hardware
 */
public record Adapter(int index, String name, long memoryBytes, boolean hardware) {

    // DXGI_ADAPTER_DESC1
    private static final int DESCRIPTION_CHARS = 128;
    private static final int DEDICATED_VIDEO_MEMORY = 272;
    private static final int FLAGS = 304;
    private static final int DESCRIPTION_BYTES = 312;
    private static final int FLAG_SOFTWARE = 2;

    private static final int[] LEVELS = {0xb100, 0xb000, 0xa100, 0xa000}; // 11.1 to 10.0

    public static List<Adapter> all() {
        List<Adapter> adapters = new ArrayList<>();
        withFactory(factory -> {
            long[] adapter = new long[1];
            for (int index = 0; !Hresult.failed(Dxgi.EnumAdapters1(factory, index, adapter)); index++) {
                adapters.add(describe(index, adapter[0]));
                Com.Release(adapter[0]);
            }
            return 0;
        });
        return adapters;
    }

    /** Describes an adapter; the caller keeps its reference. */
    static Adapter describe(int index, long adapter) {
        byte[] description = new byte[DESCRIPTION_BYTES];
        int result = Dxgi.GetDesc1(adapter, description);
        if (Hresult.failed(result)) {
            throw Dx11Failure.unavailable("adapter " + index, "IDXGIAdapter1::GetDesc1", result);
        }
        ByteBuffer fields = ByteBuffer.wrap(description).order(ByteOrder.LITTLE_ENDIAN);
        String text = new String(description, 0, 2 * DESCRIPTION_CHARS, StandardCharsets.UTF_16LE);
        int end = text.indexOf('\0');
        return new Adapter(
                index,
                end < 0 ? text : text.substring(0, end),
                fields.getLong(DEDICATED_VIDEO_MEMORY),
                (fields.getInt(FLAGS) & FLAG_SOFTWARE) == 0);
    }

    /** Creates a device on it; returns the result of {@code D3D11CreateDevice}. */
    public int createDevice(long[] device) {
        return (int) withFactory(factory -> {
            long[] adapter = new long[1];
            int found = Dxgi.EnumAdapters1(factory, index, adapter);
            if (Hresult.failed(found)) {
                return found;
            }
            try {
                return createDevice(adapter[0], D3d11.Exports.DRIVER_TYPE_UNKNOWN, device);
            } finally {
                Com.Release(adapter[0]);
            }
        });
    }

    /** Creates a device on Microsoft's software renderer; returns the result of {@code D3D11CreateDevice}. */
    static int createWarpDevice(long[] device) {
        return createDevice(0, D3d11.Exports.DRIVER_TYPE_WARP, device);
    }

    private static int createDevice(long adapter, int driverType, long[] device) {
        return D3d11.Exports.D3D11CreateDevice(
                adapter, driverType, 0, 0, LEVELS, LEVELS.length, D3d11.Exports.SDK_VERSION, device, 0, 0);
    }

    private static long withFactory(LongUnaryOperator use) {
        long[] factory = new long[1];
        int result = Dxgi.Exports.CreateDXGIFactory1(Dxgi.FACTORY_1.id(), factory);
        if (Hresult.failed(result)) {
            throw Dx11Failure.unavailable("no list of adapters", "CreateDXGIFactory1", result);
        }
        try {
            return use.applyAsLong(factory[0]);
        } finally {
            Com.Release(factory[0]);
        }
    }

    @Override
    public String toString() {
        return index + ": " + name + ", " + (memoryBytes >> 20) + " MiB" + (hardware ? "" : ", software");
    }
}
