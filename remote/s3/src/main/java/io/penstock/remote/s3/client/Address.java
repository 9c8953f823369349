// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.engine.kit.remote.HostAndPort;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Where an object is.
 *
 * @param uri as it was given
 * @param server scheme, host and port
 * @param path of the object on the server, with percent signs as signatures demand
 * @param query that names a version, or asks for a listing; empty for none
 */
record Address(URI uri, URI server, String path, String query) {

    private static final String UNRESERVED = "-._~/"; // beside letters and digits

    /** The name of a bucket; old buckets have names that are no valid host names. */
    private static final Pattern BUCKET = Pattern.compile("[A-Za-z0-9._-]+");

    /**
     * A bucket whose name is one label of a host name, as wildcards of certificates match; other names go in the path.
     */
    private static final Pattern LABEL = Pattern.compile("[a-z0-9-]+");

    /** A server and a path, with no user or query. */
    private static final Pattern ROOT = Pattern.compile("//[^@/?]+(/[^?#]*)?");

    /** The one query that names an object. */
    private static final Pattern VERSION = Pattern.compile("versionId=([^&=]+)");

    private static final String AWS = "s3\\..*\\.amazonaws\\.com(\\.cn)?";

    /** What may be secret of an endpoint, which need not be a URL: a user, and a query. */
    private static final Pattern SECRETS = Pattern.compile("(?<=^|//)(?!\\w+://).*@|\\?.*");

    /**
     * Returns the address of an object.
     *
     * @param endpoint the URL of a server that is not AWS; empty for AWS
     * @param addressing where the bucket is
     * @throws IOException if the URI names no object, or the endpoint is not a URL
     */
    static Address of(URI uri, String endpoint, String region, S3Options.Addressing addressing) throws IOException {
        String bucket = Objects.requireNonNullElse(uri.getRawAuthority(), ""); // which need not be the name of a host
        String key = Objects.requireNonNullElse(uri.getPath(), "");
        String query = uri.getRawQuery();
        if (!BUCKET.matcher(bucket).matches()
                || key.length() < 2
                || (query != null && !VERSION.matcher(query).matches())
                || uri.getRawFragment() != null) {
            throw new IOException(refusal(uri));
        }
        return at(
                uri, key, query == null ? "" : query, server(endpoint.isEmpty() ? aws(region) : endpoint), addressing);
    }

    /** As {@link #of}, for a folder of objects, or a bucket, and a query about it. */
    static Address ofFolder(URI uri, String query, String endpoint, String region, S3Options.Addressing addressing)
            throws IOException {
        if (!BUCKET.matcher(String.valueOf(uri.getRawAuthority())).matches() || uri.getRawQuery() != null) {
            throw new IOException("a URI of a folder must be s3://BUCKET/KEY/, was " + RemoteProvider.name(uri));
        }
        return at(uri, "/", query, server(endpoint.isEmpty() ? aws(region) : endpoint), addressing);
    }

    private static Address at(URI uri, String key, String query, URI server, S3Options.Addressing addressing) {
        String bucket = uri.getRawAuthority();
        boolean hosted = addressing == S3Options.Addressing.VIRTUAL
                || (addressing == S3Options.Addressing.AUTO
                        && server.getHost() != null
                        && server.getHost().matches(AWS)
                        && LABEL.matcher(bucket).matches());
        String root = Objects.requireNonNullElse(server.getRawPath(), "").replaceFirst("/$", "");
        String origin = server.getScheme() + "://" + (hosted ? bucket + "." : "") + HostAndPort.of(server);
        return new Address(uri, URI.create(origin), root + (hosted ? "" : "/" + bucket) + escaped(key), query);
    }

    private static String aws(String region) {
        return "https://s3." + region + (region.startsWith("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
    }

    /** Returns the complaint about a URI that names no object. */
    static String refusal(URI uri) {
        return "a URI of an object must be s3://BUCKET/KEY, without a query but a version's, with %23 for #, was "
                + RemoteProvider.name(uri);
    }

    private static URI server(String endpoint) throws IOException {
        try {
            URI server = URI.create(endpoint);
            if (HostAndPort.of(server) != null
                    && ("http".equals(server.getScheme()) || "https".equals(server.getScheme()))
                    && ROOT.matcher(server.getSchemeSpecificPart()).matches()) {
                return server;
            }
        } catch (IllegalArgumentException e) {
            // as below
        }
        throw new IOException("penstock.s3.endpoint must be a URL such as http://localhost:9000, was "
                + SECRETS.matcher(endpoint).replaceAll(""));
    }

    /** Returns a text with percent signs for all but slashes and unreserved characters. */
    static String escaped(String key) {
        StringBuilder escaped = new StringBuilder();
        for (byte octet : key.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (octet & 0xff);
            if (c < 0x80 && (Character.isLetterOrDigit(c) || UNRESERVED.indexOf(c) >= 0)) {
                escaped.append(c);
            } else {
                escaped.append(String.format("%%%02X", (int) c));
            }
        }
        return escaped.toString();
    }

    /** Returns the same object, or version of it, as what its attributes are requested of. */
    Address attributes() {
        return new Address(uri, server, path, query.isEmpty() ? "attributes" : "attributes&" + query);
    }

    /** Returns the target of a request. */
    String target() {
        return query.isEmpty() ? path : path + "?" + query;
    }

    /** Returns the value of the Host header. */
    String host() {
        return String.valueOf(HostAndPort.of(server));
    }

    /** Returns the URI without what may be secret. */
    @Override
    public String toString() {
        return RemoteProvider.name(uri);
    }
}
