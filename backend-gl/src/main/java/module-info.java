// SPDX-License-Identifier: Apache-2.0
/** OpenGL buffers and textures, of a context of ours or of the application's. */
module io.penstock.backend.gl {
    requires transitive io.penstock.api;
    requires io.penstock.engine;
    requires com.sun.jna;
    requires org.slf4j;

    exports io.penstock.backend.gl;

    // JNA finds the native methods of these by reflection.
    opens io.penstock.backend.gl.ffi to
            com.sun.jna;

    provides io.penstock.spi.BackendProvider with
            io.penstock.backend.gl.GlProvider;
}
