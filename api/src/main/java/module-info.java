// SPDX-License-Identifier: Apache-2.0
/** The public API of Penstock; no native code. */
@SuppressWarnings("module") // our own modules are compiled after it
module io.penstock.api {
    requires transitive org.reactivestreams;
    requires transitive reactor.core;
    requires static transitive org.jspecify;

    exports io.penstock;
    exports io.penstock.spi;
    // Not promised: what these modules share, which know nothing else in common.
    exports io.penstock.file to
            io.penstock.engine,
            io.penstock.formats,
            io.penstock.integration.spark,
            io.penstock.netty,
            io.penstock.webflux;
    exports io.penstock.handover to
            io.penstock.engine;

    uses io.penstock.spi.BackendProvider;
    uses io.penstock.spi.OptionProvider;
    uses io.penstock.file.NativeFiles;
}
