// SPDX-License-Identifier: Apache-2.0
/** AMD GPUs: hipFile, and a staged path over the HIP runtime. */
module io.penstock.backend.hip {
    requires transitive io.penstock.api;
    requires io.penstock.backend.gpu;
    requires com.sun.jna;

    exports io.penstock.backend.hip;

    // JNA finds their native methods by reflection.
    opens io.penstock.backend.hip.ffi to
            com.sun.jna;

    provides io.penstock.spi.BackendProvider with
            io.penstock.backend.hip.paths.HipProvider;
}
