// SPDX-License-Identifier: Apache-2.0
/** What users of Penstock call; nothing native. */
module io.penstock.api {
    requires transitive org.reactivestreams;
    requires transitive reactor.core;
    requires static transitive org.jspecify;

    exports io.penstock;
    exports io.penstock.spi;

    uses io.penstock.spi.BackendProvider;
}
