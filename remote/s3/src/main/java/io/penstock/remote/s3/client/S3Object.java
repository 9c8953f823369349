// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.Options;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.remote.http.client.Resource;
import io.penstock.remote.http.client.ResponseHead;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An object that is read: requests for its ranges are signed, and their failures have the codes of S3's error
 * documents.
 */
final class S3Object extends Resource {

    private static final Set<String> HOSTED = Set.of("SecondLevelDomainForbidden", "VirtualHostDomainRequired");
    private static final Pattern CODE = Pattern.compile("<Code>(\\w+)</Code>");

    private final Address address;
    private final String region;
    private final @Nullable Signer signer;
    private final RequestHeaders added;
    private final String operation;
    private final Map<String, String> more; // headers
    private volatile boolean demandsHost;
    private volatile @Nullable KeptSums sums; // that what is read is compared with

    /**
     * Creates an object; requests nothing.
     *
     * @param region that its requests are signed for
     * @param signer null for objects that everybody may read
     */
    S3Object(Address address, String region, @Nullable Signer signer, RequestHeaders added) {
        this(address, region, signer, added, "GetObject");
    }

    /** As above, for requests that S3's reference names otherwise. */
    S3Object(Address address, String region, @Nullable Signer signer, RequestHeaders added, String operation) {
        this(address, region, signer, added, operation, Map.of());
    }

    private S3Object(
            Address address,
            String region,
            @Nullable Signer signer,
            RequestHeaders added,
            String operation,
            Map<String, String> more) {
        super(
                URI.create(address.server().getScheme() + "://" + address.host() + address.target()),
                operation,
                address.toString());
        this.address = address;
        this.region = region;
        this.signer = signer;
        this.added = added;
        this.operation = operation;
        this.more = more;
    }

    /** Returns another request about the object, or about what its address has of it. */
    S3Object request(String other, Address what, Map<String, String> headers) {
        return new S3Object(what, region, signer, added, other, headers);
    }

    /** {@inheritDoc} HEAD for what S3's reference names so. */
    @Override
    protected String method() {
        return operation.startsWith("Head") ? "HEAD" : "GET";
    }

    @Override
    protected Map<String, String> signed(Map<String, String> headers) throws IOException {
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.putAll(added.reading());
        all.putAll(more);
        return signer == null ? all : signer.signed(toString(), method(), address.target(), all);
    }

    /** {@inheritDoc} Compares the checksum that the server keeps of the object. */
    @Override
    protected String damage(ResponseHead head, ByteBuffer whole) {
        for (Crc crc : Crc.values()) {
            String kept = head.value(crc.header());
            if (kept != null && !kept.contains("-") && !kept.equals(crc.text(crc.of(whole)))) {
                return "the bytes have another " + crc + " than the object";
            }
        }
        return "";
    }

    /** {@inheritDoc} Of objects that are read by several requests; {@link #damage} has the others. */
    @Override
    protected void opened(long size, Map<String, String> conditions, Options options) {
        if (added.checksum() != S3Options.Checksum.NONE && size > AsyncFile.RANGE_BYTES) {
            sums = KeptSums.of(this, address, size, conditions, options);
        }
    }

    @Override
    protected String check(long offset, ByteBuffer bytes) {
        KeptSums kept = sums;
        return kept == null ? "" : kept.read(offset, bytes);
    }

    /** Returns whether the server has refused the bucket in the path. */
    boolean demandsHost() {
        return demandsHost;
    }

    @Override
    protected String symbol(ResponseHead head, Supplier<String> document) {
        String code = head.status() < 400 ? "" : code(document.get());
        demandsHost |= HOSTED.contains(code);
        return code.isEmpty() ? super.symbol(head, document) : code;
    }

    /** Returns the code of an error document; empty if it has none. */
    static String code(String document) {
        Matcher code = CODE.matcher(document);
        return code.find() ? code.group(1) : "";
    }

    /**
     * {@inheritDoc} None: a redirection leads to another region, for which the signature must be another one.
     *
     * @throws OtherRegionException if the bucket is in another region
     */
    @Override
    protected @Nullable Resource elsewhere(ResponseHead head) throws OtherRegionException {
        String other = head.value("x-amz-bucket-region");
        if ((head.status() == 301 || head.status() == 400) && other != null && !other.equals(region)) {
            throw new OtherRegionException(address, other);
        }
        return null;
    }

    /** Thrown if a bucket is in another region than the server that got the request. */
    static final class OtherRegionException extends IOException {

        private static final long serialVersionUID = 1L;

        private final String region;

        OtherRegionException(Address address, String region) {
            super(address + " is in region " + region);
            this.region = region;
        }

        String region() {
            return region;
        }
    }
}
