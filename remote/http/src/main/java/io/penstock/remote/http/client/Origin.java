// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.engine.kit.remote.HostAndPort;
import java.net.URI;
import java.util.Locale;
import java.util.Objects;

/**
 * A server, by scheme, host and port.
 *
 * @param host in lower case; an IPv6 address in brackets
 */
record Origin(boolean secure, String host, int port) {

    static Origin of(URI uri) {
        boolean secure = uri.getScheme().equalsIgnoreCase("https");
        HostAndPort server = Objects.requireNonNull(HostAndPort.of(uri), "server");
        int port = server.port() < 0 ? defaultPort(secure) : server.port();
        return new Origin(secure, server.host().toLowerCase(Locale.ROOT), port);
    }

    private static int defaultPort(boolean secure) {
        return secure ? 443 : 80;
    }

    boolean isDefaultPort() {
        return port == defaultPort(secure);
    }

    /** Returns it as in a URI. */
    @Override
    public String toString() {
        return isDefaultPort() ? host : host + ":" + port;
    }
}
