// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import io.penstock.engine.spi.ffi.VendorLibrary;
import java.util.List;

/** What d3d11.dll exports. */
public final class Direct3d {
    public static final int DRIVER_TYPE_UNKNOWN = 0; // as the adapter says
    public static final int DRIVER_TYPE_WARP = 5;
    public static final int SDK_VERSION = 7;

    private static final VendorLibrary LIBRARY =
            new VendorLibrary(Direct3d.class, "d3d11", List.of(), Hresult.E_NOINTERFACE);

    private Direct3d() {}

    /**
     * Loads it, once for the process.
     *
     * @param file of d3d11.dll, or an empty string for the system's
     * @return why there is none, or an empty string
     */
    public static String load(String file) {
        return LIBRARY.load(file);
    }

    /**
     * Makes a device, with a reference of the caller's.
     *
     * @param featureLevel where its level goes; 0 if it is not wanted
     * @param context where its immediate context goes; 0 if it is not wanted
     */
    public static native int D3D11CreateDevice(
            long adapter,
            int driverType,
            long software,
            int flags,
            int[] featureLevels,
            int featureLevelCount,
            int sdkVersion,
            long[] device,
            long featureLevel,
            long context);
}
