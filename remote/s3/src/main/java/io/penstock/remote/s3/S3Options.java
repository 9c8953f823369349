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
            "the URL of the server, such as http://localhost:9000, also with a path before the bucket;"
                    + " without it AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, and AWS"));

    /** The region of the buckets. */
    public static final Option<String> REGION = OPTIONS.add(Option.text(
            "penstock.s3.region",
            "",
            "the region of the buckets; without it AWS_REGION, AWS_DEFAULT_REGION, the profile's, and us-east-1; AWS"
                    + " may name another one"));

    /** What requests are signed with. */
    public static final Option<Credentials> CREDENTIALS = OPTIONS.add(Option.choice(
            "penstock.s3.credentials",
            Credentials.class,
            Credentials.CHAIN,
            "what requests are signed with: the first credentials of AWS's default chain, or none, for public"
                    + " buckets"));

    /** Where the name of a bucket is. */
    public enum Addressing {
        /** In the host's name on AWS; in the path on other servers, unless they demand it in the host's name. */
        AUTO,
        /** In the path. */
        PATH,
        /** In the host's name. */
        VIRTUAL
    }

    /** Where the name of a bucket is. */
    public static final Option<Addressing> ADDRESSING = OPTIONS.add(Option.choice(
            "penstock.s3.addressing",
            Addressing.class,
            Addressing.AUTO,
            "where the name of a bucket is: in the path, or in the host's name (virtual), as AWS and servers that"
                    + " demand it have it"));

    /** The checksums that are sent with what is written. */
    public enum Checksum {
        /** CRC-32C of each part, by which the server checks what it has received, and keeps it. */
        CRC32C,
        /** Content-MD5, for servers that support no other. */
        MD5,
        /** None. */
        NONE
    }

    /** The checksums that are sent with what is written. */
    public static final Option<Checksum> CHECKSUM = OPTIONS.add(Option.choice(
            "penstock.s3.checksum",
            Checksum.class,
            Checksum.CRC32C,
            "the checksum that is sent with each part of an object that is written, and compared when an object is read"
                    + " by one range"));

    /** The encryption of objects on the server. */
    public enum Encryption {
        /** As the bucket has it. */
        BUCKET,
        /** By keys of S3. */
        AES256,
        /** By a key of AWS KMS. */
        AWS_KMS
    }

    /** The encryption of objects that are written. */
    public static final Option<Encryption> ENCRYPTION = OPTIONS.add(Option.choice(
            "penstock.s3.encryption",
            Encryption.class,
            Encryption.BUCKET,
            "how the server encrypts objects that are written"));

    /** The key of the encryption. */
    public static final Option<String> KMS_KEY = OPTIONS.add(Option.text(
            "penstock.s3.kms-key", "", "the id of the key for penstock.s3.encryption=aws-kms; without it AWS's own"));

    /** Whether requests are paid by who sends them. */
    public static final Option<Boolean> REQUESTER_PAYS = OPTIONS.add(Option.flag(
            "penstock.s3.requester-pays",
            false,
            "whether the account that sends a request pays for it, which some buckets demand"));

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
