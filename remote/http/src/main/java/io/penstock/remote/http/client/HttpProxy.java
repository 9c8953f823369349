// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The proxy through which requests to a server are sent.
 *
 * @param user empty for none
 * @param password empty for none; in no text
 */
public record HttpProxy(String host, int port, String user, String password) {

    private static final int DEFAULT_PORT = 80;
    private static final String OF_PROPERTIES = "sun.net.spi.DefaultProxySelector"; // the JDK's, for its properties

    /**
     * Returns the proxy for requests to {@code to}: from the JVM's selector ({@code http.proxyHost}), else from the
     * environment ({@code https_proxy}, {@code no_proxy}); null for none.
     *
     * @param to a URI with the scheme, host and port of the server
     * @throws IOException if the selector or the environment names one that is not an HTTP proxy
     */
    public static @Nullable HttpProxy of(URI to) throws IOException {
        return of(to, System.getenv(), ProxySelector.getDefault());
    }

    static @Nullable HttpProxy of(URI to, Map<String, String> environment, @Nullable ProxySelector selector)
            throws IOException {
        Origin origin = Origin.of(to);
        String scheme = origin.secure() ? "https" : "http";
        String named = variable(environment, scheme + "_proxy");
        String url = named.isEmpty() ? variable(environment, "all_proxy") : named;
        List<Proxy> selected = selected(scheme + "://" + origin, selector);
        for (Proxy proxy : selected) {
            if (proxy.type() == Proxy.Type.DIRECT && isChosen(scheme, selector)) {
                return null;
            }
            if (proxy.type() == Proxy.Type.HTTP && proxy.address() instanceof InetSocketAddress address) {
                return authenticated(address, url);
            }
        }
        if (selected.stream().anyMatch(proxy -> proxy.type() == Proxy.Type.SOCKS)) {
            throw new RefusedException("a proxy must be an HTTP proxy, but the JVM has one of SOCKS for " + origin
                    + ": http.nonProxyHosts excepts hosts from it");
        }
        return url.isEmpty() || isExcepted(origin, variable(environment, "no_proxy")) ? null : parsed(url);
    }

    /** @param to scheme, host and port, without what may be secret */
    private static List<Proxy> selected(String to, @Nullable ProxySelector selector) {
        try {
            return selector == null ? List.of() : selector.select(URI.create(to));
        } catch (IllegalArgumentException e) { // such as for a name with an underscore
            return List.of();
        }
    }

    /** Returns whether a selector has chosen no proxy; the JDK's answers so, too, if nobody has set its properties. */
    private static boolean isChosen(String scheme, @Nullable ProxySelector selector) {
        return selector == null
                || !selector.getClass().getName().equals(OF_PROPERTIES)
                || System.getProperty(scheme + ".proxyHost") != null
                || System.getProperty("proxyHost") != null;
    }

    /** Passwords are in the environment's URL of the same proxy: the JVM's Authenticator may have passwords of servers. */
    private static HttpProxy authenticated(InetSocketAddress address, String url) {
        HttpProxy chosen = new HttpProxy(address.getHostString(), address.getPort(), "", "");
        try {
            return !url.isEmpty() && parsed(url).toString().equalsIgnoreCase(chosen.toString()) ? parsed(url) : chosen;
        } catch (IOException e) { // it is another one
            return chosen;
        }
    }

    /** Returns a variable in lower or upper case; empty if it is not set. */
    private static String variable(Map<String, String> environment, String name) {
        return Stream.of(name, name.toUpperCase(Locale.ROOT))
                .map(any -> environment.getOrDefault(any, "").strip())
                .filter(text -> !text.isEmpty())
                .findFirst()
                .orElse("");
    }

    /** Returns whether a list of names, each with all names below it, or *, has this host. */
    private static boolean isExcepted(Origin origin, String list) {
        String host = origin.host().replaceAll("[\\[\\]]", "");
        return Stream.of(list.toLowerCase(Locale.ROOT).split("[,\\s]+"))
                .map(name -> name.replaceFirst(":" + origin.port() + "$", "").replaceFirst("^\\*?\\.", ""))
                .map(name -> name.replaceAll("[\\[\\]]", ""))
                .filter(name -> !name.isEmpty())
                .anyMatch(name -> name.equals("*") || host.equals(name) || host.endsWith("." + name));
    }

    private static HttpProxy parsed(String url) throws IOException {
        URI uri;
        try {
            uri = URI.create(url.contains("://") ? url : "http://" + url);
        } catch (IllegalArgumentException e) {
            throw refused("");
        }
        if (!"http".equalsIgnoreCase(uri.getScheme()) || uri.getHost() == null) {
            throw refused(", was " + uri.getScheme() + "://" + uri.getHost());
        }
        String[] login =
                String.valueOf(uri.getRawUserInfo()).replace("+", "%2B").split(":", 2);
        boolean logs = uri.getRawUserInfo() != null;
        return new HttpProxy(
                uri.getHost(),
                uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort(),
                logs ? URLDecoder.decode(login[0], StandardCharsets.UTF_8) : "",
                login.length > 1 ? URLDecoder.decode(login[1], StandardCharsets.UTF_8) : "");
    }

    private static RefusedException refused(String was) {
        return new RefusedException("http_proxy and https_proxy must be the URL of an HTTP proxy, such as"
                + " http://proxy.example:3128" + was);
    }

    /** Returns the header with user and password; empty for none. */
    private String header() {
        byte[] login = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
        return user.isEmpty()
                ? ""
                : "Proxy-Authorization: Basic " + Base64.getEncoder().encodeToString(login) + "\r\n";
    }

    /** Returns a request as the proxy forwards it: its target has the server (RFC 9112, 3.2.2). */
    String forwarded(String request, Origin to) {
        int target = "GET ".length();
        int end = request.length() - "\r\n".length();
        return request.substring(0, target) + "http://" + to + request.substring(target, end) + header() + "\r\n";
    }

    /** Returns the request for a tunnel to a server (RFC 9110, 9.3.6). */
    String tunnel(Origin to) {
        String authority = to.host() + ":" + to.port();
        return "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n" + header() + "\r\n";
    }

    /**
     * Throws if a response is a refusal of the proxy's own.
     *
     * @param tunnel whether all but success is
     */
    void check(ResponseHead head, boolean tunnel) throws IOException {
        if (head.status() == 407 || (tunnel && head.status() / 100 != 2)) {
            String answer = "the proxy " + this + " answered " + head.symbol() + " (" + head.status() + ")";
            if (head.status() == 407) {
                answer += "; " + (user.isEmpty() ? "its URL in http_proxy or https_proxy must have" : "it refuses the")
                        + " user and password";
            }
            throw head.status() / 100 == 4 ? new RefusedException(answer) : new IOException(answer);
        }
    }

    /** Thrown if the next attempt would be refused as well. */
    static final class RefusedException extends IOException {

        private static final long serialVersionUID = 1L;

        private RefusedException(String message) {
            super(message);
        }
    }

    /** Returns host and port. */
    @Override
    public String toString() {
        return host + ":" + port;
    }
}
