// SPDX-License-Identifier: Apache-2.0
/** The public API of Penstock; no native code. */
module io.penstock.api {
    requires transitive org.reactivestreams;
    requires transitive reactor.core;
    requires static transitive org.jspecify;

    exports io.penstock;
    exports io.penstock.spi;

    uses io.penstock.spi.BackendProvider;
    uses io.penstock.spi.OptionProvider;
}
