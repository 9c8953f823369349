// SPDX-License-Identifier: Apache-2.0
/**
 * What every backend shares. A backend is written against {@code io.penstock.engine.spi} and the packages below it, and
 * opened by {@link io.penstock.engine.Engine}; the other packages are internal.
 */
@SuppressWarnings("module") // our own backends are compiled after it
module io.penstock.engine {
    requires transitive io.penstock.api;
    requires com.sun.jna;
    requires static jdk.jfr;
    requires org.jctools.core.jdk11;
    requires org.slf4j;

    exports io.penstock.engine;
    exports io.penstock.engine.spi;
    exports io.penstock.engine.spi.fence;
    exports io.penstock.engine.spi.ffi;
    exports io.penstock.engine.spi.file;
    exports io.penstock.engine.spi.host;
    exports io.penstock.engine.spi.memory;
    exports io.penstock.engine.spi.remote;
    exports io.penstock.engine.spi.staging;
    // Not promised: AMD published its SSG interface in three forms, OpenCL, OpenGL and Direct3D 11, which these three
    // modules use. No other backend can need it, so that it may change with them.
    exports io.penstock.engine.spi.ssg to
            io.penstock.backend.dx11,
            io.penstock.backend.gl,
            io.penstock.backend.opencl;
    // Not promised: it changes with the checks of penstock doctor.
    exports io.penstock.engine.spi.machine to
            io.penstock.backend.cufile,
            io.penstock.backend.nvme;

    uses io.penstock.engine.spi.PathFilter;
    uses io.penstock.engine.spi.remote.RemoteProvider;

    // JNA makes instances of what is passed by value.
    opens io.penstock.engine.ffi to
            com.sun.jna;
    opens io.penstock.engine.spi.ffi to
            com.sun.jna;
}
