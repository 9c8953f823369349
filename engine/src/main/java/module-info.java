// SPDX-License-Identifier: Apache-2.0
/**
 * What every backend shares. A backend is written against {@code io.penstock.engine.spi} and the packages below it,
 * with the tools of {@code io.penstock.engine.kit}, and opened by {@link io.penstock.engine.Engine}. Users set
 * {@code io.penstock.engine.options}. The other packages are internal.
 */
@SuppressWarnings("module") // our own backends are compiled after it
module io.penstock.engine {
    requires transitive io.penstock.api;
    requires com.sun.jna;
    requires static jdk.jfr;
    requires org.jctools.core.jdk11;
    requires org.slf4j;

    exports io.penstock.engine;
    exports io.penstock.engine.options;
    exports io.penstock.engine.kit;
    exports io.penstock.engine.spi;
    exports io.penstock.engine.kit.ffi;
    exports io.penstock.engine.kit.fence;
    exports io.penstock.engine.kit.file;
    exports io.penstock.engine.kit.host;
    exports io.penstock.engine.kit.memory;
    exports io.penstock.engine.kit.remote;
    exports io.penstock.engine.kit.staging;
    exports io.penstock.engine.spi.staging;
    // Not promised: AMD published its SSG interface in three forms, OpenCL, OpenGL and Direct3D 11, which these three
    // modules use. No other backend can need it, so that it may change with them.
    exports io.penstock.engine.kit.ssg to
            io.penstock.backend.dx11,
            io.penstock.backend.gl,
            io.penstock.backend.opencl;
    // Not promised: it changes with the checks of penstock doctor.
    exports io.penstock.engine.kit.machine to
            io.penstock.backend.gpu,
            io.penstock.backend.hip,
            io.penstock.backend.nvme;

    uses io.penstock.engine.kit.PathFilter;
    uses io.penstock.engine.kit.remote.RemoteProvider;

    provides io.penstock.file.NativeFiles with
            io.penstock.engine.ffi.LinuxAttributes;

    // JNA makes instances of what is passed by value.
    opens io.penstock.engine.ffi to
            com.sun.jna;
    opens io.penstock.engine.kit.ffi to
            com.sun.jna;
}
