// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.penstock.cli.serve.Hosts;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Which pages may open a socket: the pages of this server, and of named origins.
 *
 * <p>The host of a request must be an address or {@code localhost}: the owner of any other name could make it resolve
 * to this machine (DNS rebinding), and a page of that name would then have the same origin as this server.
 *
 * @param named further origins, such as {@code https://view.example}: of a proxy
 */
record Origins(Set<String> named) {

    /** What browsers send: no path, and nothing in capitals. */
    private static final Pattern ORIGIN =
            Pattern.compile("[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\\[[0-9a-f:.]+])(:[1-9][0-9]{0,4})?");

    private static final Pattern DEFAULT_PORT = Pattern.compile("http://.*:80|https://.*:443");

    /**
     * Checks the named origins.
     *
     * @throws IllegalArgumentException if one is not as a browser sends it; it would never match
     */
    Origins {
        for (String origin : named) {
            if (!ORIGIN.matcher(origin).matches()
                    || DEFAULT_PORT.matcher(origin).matches()) {
                throw new IllegalArgumentException(
                        "an origin must be as browsers send it, scheme://host or scheme://host:port, in lower case, without a path"
                                + " and without the scheme's default port, such as https://view.example; was '" + origin
                                + "'");
            }
        }
    }

    /** Returns whether a request comes from such a page. */
    boolean allow(HttpHeaders headers) {
        String origin = headers.get(HttpHeaderNames.ORIGIN, "");
        if (named.contains(origin)) {
            return true;
        }
        String host = headers.get(HttpHeaderNames.HOST, "");
        return origin.equals("http://" + host) && Hosts.isThisMachine(host);
    }
}
