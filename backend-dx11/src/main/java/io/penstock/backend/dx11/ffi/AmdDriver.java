// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import io.penstock.engine.spi.ffi.VendorLibrary;
import java.util.List;

/** The export of AMD's driver that gives access to its extensions. */
public final class AmdDriver {

    private static final VendorLibrary LIBRARY =
            new VendorLibrary(AmdDriver.class, "atidxx64", List.of(), Hresult.E_NOINTERFACE);

    private AmdDriver() {}

    /**
     * Loads it, once for the process; it is already loaded if a device is from AMD.
     *
     * @param file the driver, or an empty string for the system's
     * @return why there is none, or an empty string
     */
    public static String load(String file) {
        String why = LIBRARY.load(file);
        return why.isEmpty() && !LIBRARY.absent().isEmpty() ? LIBRARY.file() + " exports no " + LIBRARY.absent() : why;
    }

    /** Returns an {@code IAmdDxExt} of a device, with a reference that the caller owns. */
    public static native int AmdDxExtCreate11(long device, long[] extension);
}
