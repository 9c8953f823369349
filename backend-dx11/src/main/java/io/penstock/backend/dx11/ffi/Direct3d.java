// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import io.penstock.engine.spi.ffi.VendorLibrary;
import java.util.List;

/** The exports of d3d11.dll. */
public final class Direct3d {
    public static final int DRIVER_TYPE_UNKNOWN = 0; // as the adapter implies
    public static final int DRIVER_TYPE_WARP = 5;
    public static final int SDK_VERSION = 7;

    /** The library that exports them, loaded once per process. */
    public static final VendorLibrary LIBRARY =
            new VendorLibrary(Direct3d.class, "d3d11", List.of(), Hresult.E_NOINTERFACE);

    private Direct3d() {}

    /**
     * Creates a device, with a reference that the caller owns.
     *
     * @param featureLevel address for its level; 0 if not wanted
     * @param context address for its immediate context; 0 if not wanted
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
