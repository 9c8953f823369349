// SPDX-License-Identifier: Apache-2.0
/** Files as a Flux of Netty's ByteBuf. */
module io.penstock.netty {
    requires transitive io.penstock.api;
    requires transitive io.netty.buffer;
    requires static transitive org.jspecify;

    exports io.penstock.netty;
}
