// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http;

import io.penstock.Option;
import java.util.List;

/** The options of {@code http:} and {@code https:} URIs, in addition to {@link io.penstock.CommonOptions}. */
public final class HttpOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** What shows that all ranges are of one version of a file, beside its length. */
    public enum Validator {
        /** The entity tag; the modification date of servers that send none. */
        ETAG,
        /** The modification date. */
        DATE,
        /** Nothing else. */
        LENGTH
    }

    /** What shows that all ranges are of one version of a file. */
    public static final Option<Validator> VALIDATOR = OPTIONS.add(Option.choice(
            "penstock.http.validator",
            Validator.class,
            Validator.ETAG,
            "what shows, beside the length, that all ranges are of one version of a file: the entity tag (the date,"
                    + " if there is none), the date alone, or nothing; for hosts that name one version differently"));

    /** A file of headers, such as tokens. */
    public static final Option<String> HEADERS = OPTIONS.add(Option.text(
            "penstock.http.headers",
            "",
            "a file of headers that are sent to a host, such as tokens, with a line HOST NAME: VALUE for each; a HOST"
                    + " without a port is one of https"));

    /** Whose certificates are trusted. */
    public static final Option<String> TRUST = OPTIONS.add(Option.text(
            "penstock.http.trust",
            "jvm",
            "whose certificates https: and s3: trust, to read and to write: jvm for the JVM's trust store, system for"
                    + " the operating system's, or a PEM file"));

    /** The certificate of this client. */
    public static final Option<String> CLIENT_CERTIFICATE = OPTIONS.add(Option.text(
            "penstock.http.client-certificate",
            "",
            "a PEM file with the certificate of this client and its key, for https: and s3: servers that demand one"));

    private HttpOptions() {}

    /** Returns all options of {@code http:} and {@code https:} URIs. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
