// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/** The services that UCX's layers share ({@code libucs.so.0}). None may be called before {@link #LIBRARY} is loaded. */
public final class Ucs {

    /** The library, loaded once per process. */
    public static final VendorLibrary LIBRARY = new VendorLibrary(
            Ucs.class,
            "libucs.so.0",
            List.of("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/opt/ucx/lib"),
            UcsStatus.UNSUPPORTED);

    private Ucs() {}

    /** Sets an option of the process, without its prefix {@code UCX_}; to be called before any context is created. */
    public static native int ucs_global_opts_set_value(String name, String value);
}
