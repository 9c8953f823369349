// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import io.penstock.engine.spi.ffi.VendorLibrary;
import java.util.List;

/** What AMD's driver exports, from where its extensions are found. */
public final class AmdDriver {

    private static final VendorLibrary LIBRARY =
            new VendorLibrary(AmdDriver.class, "atidxx64", List.of(), Hresult.E_NOINTERFACE);

    private AmdDriver() {}

    /**
     * Loads it, once for the process; where a device is AMD's it is there already.
     *
     * @param file of the driver, or an empty string for the system's
     * @return why there is none, or an empty string
     */
    public static String load(String file) {
        String why = LIBRARY.load(file);
        return why.isEmpty() && !LIBRARY.absent().isEmpty() ? LIBRARY.file() + " exports no " + LIBRARY.absent() : why;
    }

    /** Gives an {@code IAmdDxExt} of a device, with a reference of the caller's. */
    public static native int AmdDxExtCreate11(long device, long[] extension);
}
