// SPDX-License-Identifier: Apache-2.0
/** Direct3D 11: AMD's SSG interface where available, mapped staging buffers on every device. */
@SuppressWarnings("module") // "should avoid terminal digits": they are the vendor's
module io.penstock.backend.dx11 {
    requires transitive io.penstock.api;
    requires io.penstock.engine;
    requires com.sun.jna;
    requires org.slf4j;

    exports io.penstock.backend.dx11;

    // JNA finds the native methods of these by reflection.
    opens io.penstock.backend.dx11.ffi to
            com.sun.jna;

    provides io.penstock.spi.BackendProvider with
            io.penstock.backend.dx11.paths.Dx11Provider;
}
