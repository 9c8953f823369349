// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.Options;
import io.penstock.remote.s3.S3Options;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/** The headers that options add to requests. */
record RequestHeaders(
        S3Options.Checksum checksum, S3Options.Encryption encryption, String kmsKey, boolean requesterPays) {

    static RequestHeaders of(Options options) {
        return new RequestHeaders(
                options.get(S3Options.CHECKSUM),
                options.get(S3Options.ENCRYPTION),
                options.get(S3Options.KMS_KEY),
                options.get(S3Options.REQUESTER_PAYS));
    }

    /** Returns the headers of every request. */
    Map<String, String> all() {
        return requesterPays ? Map.of("x-amz-request-payer", "requester") : Map.of();
    }

    /** Returns the headers of a request for bytes. */
    Map<String, String> reading() {
        Map<String, String> headers = new LinkedHashMap<>(all());
        if (checksum != S3Options.Checksum.NONE) {
            headers.put("x-amz-checksum-mode", "ENABLED");
        }
        return headers;
    }

    /**
     * Returns the headers of a request that creates an object.
     *
     * @param parts whether the object's bytes come by other requests
     */
    Map<String, String> creating(boolean parts) {
        Map<String, String> headers = new LinkedHashMap<>(all());
        if (encryption != S3Options.Encryption.BUCKET) {
            boolean kms = encryption == S3Options.Encryption.AWS_KMS;
            headers.put("x-amz-server-side-encryption", kms ? "aws:kms" : "AES256");
            if (kms && !kmsKey.isEmpty()) {
                headers.put("x-amz-server-side-encryption-aws-kms-key-id", kmsKey);
            }
        }
        if (parts && checksum == S3Options.Checksum.CRC32C) {
            headers.put("x-amz-checksum-algorithm", "CRC32C");
        }
        return headers;
    }

    /** Returns the headers that have the checksum of what a request sends. */
    Map<String, String> sum(ByteBuffer bytes) {
        return switch (checksum) {
            case CRC32C -> Map.of(Crc.CRC32C.header(), Crc.CRC32C.text(Crc.CRC32C.of(bytes)));
            case MD5 -> Map.of("Content-MD5", md5(bytes));
            case NONE -> Map.of();
        };
    }

    /** Returns the element that completes an upload, by the headers of a part's checksum; empty for none. */
    static String element(Map<String, String> sum) {
        String crc = sum.get(Crc.CRC32C.header());
        String name = Crc.CRC32C.element();
        return crc == null ? "" : "<" + name + ">" + crc + "</" + name + ">";
    }

    private static String md5(ByteBuffer bytes) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            digest.update(bytes.duplicate());
            return Base64.getEncoder().encodeToString(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has MD5", e);
        }
    }
}
