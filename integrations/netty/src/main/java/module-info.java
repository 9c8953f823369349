// SPDX-License-Identifier: Apache-2.0
/** Files as a Flux of Netty's ByteBuf. */
@SuppressWarnings("module") // our own modules are compiled after it
module io.penstock.netty {
    requires transitive io.penstock.api;
    requires transitive io.netty.buffer;
    requires static transitive org.jspecify;

    exports io.penstock.netty;
    // Not promised: what HttpFiles and "penstock serve" share.
    exports io.penstock.netty.http to
            io.penstock.webflux;
}
