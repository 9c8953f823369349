// SPDX-License-Identifier: Apache-2.0
/** Files over HTTP in Spring WebFlux. */
module io.penstock.webflux {
    requires transitive io.penstock.api;
    requires io.penstock.netty;
    requires transitive spring.core;
    requires transitive spring.web;
    requires static io.netty.handler;
    requires static io.netty.transport;
    requires static reactor.netty.core;
    requires static reactor.netty.http;
    requires static transitive org.jspecify;

    exports io.penstock.webflux;
}
