// SPDX-License-Identifier: Apache-2.0
/**
 * What every backend shares. A backend is written against {@code io.penstock.engine.spi} and the packages below it, and opened
 * by {@link io.penstock.engine.Engine}; the other packages are internal.
 */
@SuppressWarnings("module") // our own backends are compiled after it
module io.penstock.engine {
    requires transitive io.penstock.api;
    requires com.sun.jna;
    requires org.jctools.core.jdk11;
    requires org.slf4j;

    exports io.penstock.engine;
    exports io.penstock.engine.spi;
    exports io.penstock.engine.spi.fence;
    exports io.penstock.engine.spi.ffi;
    exports io.penstock.engine.spi.staging;
    // Not yet in a form to promise: host memory, files, the path of host I/O, and what AMD's three interfaces share.
    exports io.penstock.engine.host to
            io.penstock.backend.cufile,
            io.penstock.backend.gl,
            io.penstock.backend.host,
            io.penstock.backend.opencl;
    exports io.penstock.engine.spi.ssg to
            io.penstock.backend.dx11,
            io.penstock.backend.gl,
            io.penstock.backend.opencl;

    uses io.penstock.engine.spi.RouteFilter;

    // JNA makes instances of what is passed by value.
    opens io.penstock.engine.ffi to
            com.sun.jna;
    opens io.penstock.engine.spi.ffi to
            com.sun.jna;
}
