// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3;

import io.penstock.Option;
import java.util.List;

/** The options of {@code s3:} URIs, in addition to the options of {@link io.penstock.CommonOptions} for other hosts. */
public final class S3Options {

    private static final Option.Group OPTIONS = new Option.Group();

    /** What requests are signed with. */
    public enum Credentials {
        /** The first that AWS's default chain finds: environment, profile, web identity, container, instance. */
        CHAIN,
        /** Nothing: for buckets that everybody may read. */
        NONE
    }

    /** The server, unless it is AWS. */
    public static final Option<String> ENDPOINT = OPTIONS.add(Option.text(
            "penstock.s3.endpoint",
            "",
            "the URL of the server, such as http://localhost:9000, with the bucket as the first name of the path;"
                    + " without it AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, and AWS"));

    /** The region of the buckets. */
    public static final Option<String> REGION = OPTIONS.add(Option.text(
            "penstock.s3.region",
            "",
            "the region of the buckets; without it AWS_REGION, AWS_DEFAULT_REGION, and us-east-1; AWS may name"
                    + " another one"));

    /** What requests are signed with. */
    public static final Option<Credentials> CREDENTIALS = OPTIONS.add(Option.choice(
            "penstock.s3.credentials",
            Credentials.class,
            Credentials.CHAIN,
            "what requests are signed with: the first credentials of AWS's default chain, or none, for public"
                    + " buckets"));

    /** The bytes of a part of an object that is written. */
    public static final Option<Long> PART_BYTES = OPTIONS.add(Option.bytes(
            "penstock.s3.part-bytes",
            8L << 20,
            5L << 20,
            1L << 30,
            "the bytes of a part of an object that is written, of which there are 10000 at most; writes that begin at"
                    + " a multiple of it are not copied"));

    private S3Options() {}

    /** Returns all options of {@code s3:} URIs. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
