// SPDX-License-Identifier: Apache-2.0
/** OpenCL devices: AMD's SSG extension where available, staging buffers and mapped buffers elsewhere. */
module io.penstock.backend.opencl {
    requires transitive io.penstock.api;
    requires io.penstock.engine;
    requires com.sun.jna;
    requires org.slf4j;

    exports io.penstock.backend.opencl;
    exports io.penstock.backend.opencl.gma;

    // JNA finds their native methods by reflection.
    opens io.penstock.backend.opencl.ffi to
            com.sun.jna;

    provides io.penstock.spi.BackendProvider with
            io.penstock.backend.opencl.paths.OpenClProvider;
}
