// SPDX-License-Identifier: Apache-2.0
/** NVIDIA GPUs: cuFile, and staged and mapped paths over the CUDA driver API. */
module io.penstock.backend.cufile {
    requires transitive io.penstock.api;
    requires io.penstock.backend.gpu;
    requires com.sun.jna;

    exports io.penstock.backend.cufile;

    // JNA finds their native methods by reflection.
    opens io.penstock.backend.cufile.ffi to
            com.sun.jna;

    provides io.penstock.spi.BackendProvider with
            io.penstock.backend.cufile.paths.CufileProvider;
}
