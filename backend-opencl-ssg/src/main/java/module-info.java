// SPDX-License-Identifier: Apache-2.0
/** OpenCL devices: AMD's SSG extension where it is, slots and mappings of our own everywhere else. */
module io.penstock.backend.opencl {
    requires transitive io.penstock.api;
    requires io.penstock.engine;
    requires com.sun.jna;
    requires org.jctools.core.jdk11;
    requires org.slf4j;

    exports io.penstock.backend.opencl;

    // JNA finds the native methods of these by reflection.
    opens io.penstock.backend.opencl.ffi to
            com.sun.jna;

    provides io.penstock.spi.BackendProvider with
            io.penstock.backend.opencl.OpenClProvider;
}
