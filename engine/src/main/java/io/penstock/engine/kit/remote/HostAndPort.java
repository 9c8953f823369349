// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.remote;

import java.net.URI;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The host of a URI and its port. {@link URI#getHost} has none for a name with an underscore, as services of Docker
 * have.
 *
 * @param host as the URI has it; an IPv6 address in brackets
 * @param port -1 if the URI has none
 */
public record HostAndPort(String host, int port) {

    private static final Pattern NAME = Pattern.compile("(?:[^@]*@)?([A-Za-z0-9._-]+)(?::(\\d{1,5})?)?");

    /** Returns the host and port of a URI; null if it names no host. */
    public static @Nullable HostAndPort of(URI uri) {
        if (uri.getHost() != null) {
            return new HostAndPort(uri.getHost(), uri.getPort());
        }
        Matcher name = NAME.matcher(Objects.requireNonNullElse(uri.getRawAuthority(), ""));
        return name.matches()
                ? new HostAndPort(name.group(1), name.group(2) == null ? -1 : Integer.parseInt(name.group(2)))
                : null;
    }

    /** Returns it as in a URI and in the Host header. */
    @Override
    public String toString() {
        return port < 0 ? host : host + ":" + port;
    }
}
