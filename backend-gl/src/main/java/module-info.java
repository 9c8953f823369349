// SPDX-License-Identifier: Apache-2.0
/** OpenGL buffers and textures, in a context of the backend or of the application. */
module io.penstock.backend.gl {
    requires transitive io.penstock.api;
    requires io.penstock.engine;
    requires com.sun.jna;
    requires org.slf4j;

    exports io.penstock.backend.gl;
    exports io.penstock.backend.gl.options;

    // JNA finds the native methods of these by reflection.
    opens io.penstock.backend.gl.ffi to
            com.sun.jna;

    provides io.penstock.spi.BackendProvider with
            io.penstock.backend.gl.paths.GlProvider;
}
