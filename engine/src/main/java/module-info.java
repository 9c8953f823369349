// SPDX-License-Identifier: Apache-2.0
/**
 * What every backend shares; {@code io.penstock.engine.spi} is what a backend author writes against. The other packages
 * are exported for our own backends and promise nothing.
 */
module io.penstock.engine {
    requires transitive io.penstock.api;
    requires com.sun.jna;
    requires org.jctools.core.jdk11;
    requires org.slf4j;

    exports io.penstock.engine;
    exports io.penstock.engine.fence;
    exports io.penstock.engine.ffi;
    exports io.penstock.engine.host;
    exports io.penstock.engine.spi;
    exports io.penstock.engine.ssg;
    exports io.penstock.engine.staging;

    uses io.penstock.engine.spi.RouteFilter;

    // JNA makes instances of what is passed by value.
    opens io.penstock.engine.ffi to
            com.sun.jna;
}
