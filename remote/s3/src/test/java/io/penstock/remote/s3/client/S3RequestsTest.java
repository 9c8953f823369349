// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.remote.http.testing.ForwardProxy;
import io.penstock.remote.s3.S3Options;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.gaul.s3proxy.S3Proxy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** What requests have by options: addresses, versions, checksums, encryption, and who pays. */
@Tag("once")
@ExtendWith(Certificates.class)
class S3RequestsTest {

    private static final int PARTS = 12 << 20; // bytes of two parts
    private static final byte[] SMALL = "nine byte".getBytes(StandardCharsets.US_ASCII);

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(60));
    }

    private static void write(Options options, int bytes) {
        try (Backend backend = Backends.open("host", options);
                DeviceBuffer buffer = get(backend.allocate(bytes));
                StorageFile object = get(backend.openFile(
                        S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE))) {
            byte[] random = new byte[bytes];
            new Random(6).nextBytes(random);
            get(buffer.upload(0, ByteBuffer.allocateDirect(bytes).put(random).flip()));
            get(backend.submit(Transfer.write(buffer.all(), object.region(0, bytes))));
            get(object.sync());
        }
    }

    private static byte[] read(Options options, URI uri) {
        try (Backend backend = Backends.open("host", options);
                StorageFile object = get(backend.openFile(uri));
                DeviceBuffer buffer = get(backend.allocate(object.size()))) {
            get(backend.submit(Transfer.read(object.all(), buffer.all())));
            ByteBuffer arrived = ByteBuffer.allocateDirect((int) object.size());
            get(buffer.download(0, arrived.duplicate()));
            byte[] bytes = new byte[arrived.capacity()];
            arrived.get(bytes);
            return bytes;
        }
    }

    private static List<FaultProxy.Request> parts(S3Server server) {
        return server.proxy.requests("PUT");
    }

    @Test
    void eachPartHasItsChecksumAndTheObjectAllOfThem() throws Exception {
        S3Server server = new S3Server(true);
        try {
            write(server.options(), PARTS);
            assertThat(parts(server))
                    .hasSize(2)
                    .allSatisfy(part -> assertThat(part.headers)
                            .hasEntrySatisfying(
                                    "x-amz-checksum-crc32c",
                                    sum -> assertThat(sum).hasSize(8)));
            assertThat(server.proxy.requests("POST").get(0).headers)
                    .containsEntry("x-amz-checksum-algorithm", "CRC32C");
            String complete = new String(server.proxy.requests("POST").get(1).body, StandardCharsets.UTF_8);
            for (FaultProxy.Request part : parts(server)) {
                assertThat(complete).contains("<ChecksumCRC32C>" + part.headers.get("x-amz-checksum-crc32c") + "</");
            }
            assertThat(server.get("object")).hasSize(PARTS);
        } finally {
            server.stop();
        }
    }

    /** As of RFC 3720, B.4: the checksum of 32 zeros is aa36918a, sent with its highest byte first. */
    @Test
    void aChecksumIsOfTheBytes() {
        RequestHeaders headers = RequestHeaders.of(Options.none());
        assertThat(headers.sum(ByteBuffer.allocate(32))).containsEntry("x-amz-checksum-crc32c", "ipE2qg==");
    }

    @Test
    void serversThatKnowMd5AloneGetThat() throws Exception {
        S3Server server = new S3Server(true);
        try {
            write(server.options().with(S3Options.CHECKSUM, S3Options.Checksum.MD5), PARTS);
            assertThat(parts(server))
                    .hasSize(2)
                    .allSatisfy(part -> assertThat(part.headers)
                            .containsKey("content-md5")
                            .doesNotContainKey("x-amz-checksum-crc32c"));
            write(server.options().with(S3Options.CHECKSUM, S3Options.Checksum.NONE), 1000);
            assertThat(parts(server).get(2).headers).doesNotContainKeys("content-md5", "x-amz-checksum-crc32c");
        } finally {
            server.stop();
        }
    }

    /** Answers a request for bytes with all of them. */
    private static FaultProxy.Fault all(String header) {
        return (request, to) -> {
            int last = request.kind.equals("OPEN") ? 1 : SMALL.length - 1;
            to.write(FaultProxy.text("HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\nContent-Length: " + (last + 1)
                    + "\r\nContent-Range: bytes 0-" + last + "/" + SMALL.length + header));
            to.write(SMALL, 0, last + 1);
            return true;
        };
    }

    @Test
    void aChecksumThatTheServerKeepsIsCompared() throws Exception {
        S3Server server = new S3Server(true);
        try {
            String right = RequestHeaders.of(Options.none())
                    .sum(ByteBuffer.wrap(SMALL))
                    .get("x-amz-checksum-crc32c");
            server.proxy.fault = all("\r\nx-amz-checksum-crc32c: " + right);
            assertThat(read(server.options(), S3Server.uri("object"))).isEqualTo(SMALL);
            assertThat(server.proxy.requests.get(0).headers).containsEntry("x-amz-checksum-mode", "ENABLED");
            server.proxy.fault = all("\r\nx-amz-checksum-crc32c: AAAAAA==");
            Options twice = server.options().with("penstock.remote.attempts", "2");
            assertThatThrownBy(() -> read(twice, S3Server.uri("object")))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContainingAll("the bytes have another CRC-32C than the object", "after 2 attempts");
            server.proxy.fault = all("\r\nx-amz-checksum-crc32c: AAAAAA==-2"); // of the checksums of two parts
            assertThat(read(server.options(), S3Server.uri("object"))).isEqualTo(SMALL);
        } finally {
            server.stop();
        }
    }

    @Test
    void aVersionIsReadAndNotWritten() throws Exception {
        S3Server server = new S3Server(true);
        URI version = URI.create(S3Server.uri("object") + "?versionId=a%2Fb");
        try (Backend backend = Backends.open("host", server.options())) {
            server.proxy.fault = all("");
            assertThat(read(server.options(), version)).isEqualTo(SMALL);
            assertThat(server.proxy.requests)
                    .allSatisfy(request -> assertThat(request.target).isEqualTo("/bucket/object?versionId=a%2Fb"));
            assertThatIllegalArgumentException()
                    .isThrownBy(() ->
                            get(backend.openFile(version, FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE)))
                    .withMessageContaining("a version of an object cannot be written");
        } finally {
            server.stop();
        }
    }

    @Test
    void encryptionAndWhoPaysAreHeaders() throws Exception {
        S3Server server = new S3Server(true, S3Proxy.builder().ignoreUnknownHeaders(true));
        Options options = server.options()
                .with(S3Options.ENCRYPTION, S3Options.Encryption.AWS_KMS)
                .with(S3Options.KMS_KEY, "arn:key")
                .with(S3Options.REQUESTER_PAYS, true);
        try {
            write(options, PARTS);
            assertThat(server.proxy.requests)
                    .allSatisfy(
                            request -> assertThat(request.headers).containsEntry("x-amz-request-payer", "requester"));
            assertThat(server.proxy.requests("POST").get(0).headers)
                    .containsEntry("x-amz-server-side-encryption", "aws:kms")
                    .containsEntry("x-amz-server-side-encryption-aws-kms-key-id", "arn:key");
            assertThat(parts(server))
                    .allSatisfy(part -> assertThat(part.headers).doesNotContainKey("x-amz-server-side-encryption"));
        } finally {
            server.stop();
        }
    }

    @Test
    void anEndpointMayHaveAPath() throws Exception {
        S3Server server = new S3Server(true, S3Proxy.builder().servicePath("/store/s3"));
        try {
            Options options = server.options().with(S3Options.ENDPOINT, server.proxy.uri() + "/store/s3");
            write(options, PARTS);
            assertThat(read(options, S3Server.uri("object"))).isEqualTo(server.get("object"));
        } finally {
            server.stop();
        }
    }

    /** Of both demands one may follow the other; a server that goes on so is given up. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anotherRegionAndTheHostsNameMayBothBeDemanded(boolean again) throws Exception {
        S3Server server = new S3Server(true, S3Proxy.builder().virtualHost("store.invalid"));
        server.proxy.fault = (request, to) -> {
            if (!request.headers.get("authorization").contains("/eu-north-1/s3/")) {
                to.write(otherRegion("eu-north-1"));
            } else if (!request.headers.get("host").startsWith("bucket.")) {
                to.write(FaultProxy.error("403 Forbidden", "SecondLevelDomainForbidden"));
            } else if (again) {
                to.write(otherRegion("us-east-1"));
            } else {
                to.write(FaultProxy.text("HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\nContent-Length: 2"
                        + "\r\nContent-Range: bytes 0-1/2"));
                to.write(SMALL, 0, 2);
            }
            return true;
        };
        try (ForwardProxy proxy = new ForwardProxy(server.proxy.uri().getPort(), null)) {
            System.setProperty("http.proxyHost", "127.0.0.1");
            System.setProperty("http.proxyPort", proxy.address().substring(10));
            Options options = server.options().with(S3Options.ENDPOINT, "http://store.invalid");
            if (again) {
                assertThatThrownBy(() -> read(options, S3Server.uri("object")))
                        .hasMessageContaining("s3://bucket/object is in region us-east-1");
            } else {
                assertThat(read(options, S3Server.uri("object"))).hasSize(2);
            }
        } finally {
            System.clearProperty("http.proxyHost");
            System.clearProperty("http.proxyPort");
            server.stop();
        }
    }

    private static byte[] otherRegion(String region) {
        return FaultProxy.text("HTTP/1.1 400 Bad Request\r\nx-amz-bucket-region: " + region + "\r\nContent-Length: 0");
    }

    /** The proxy alone resolves the name. */
    @ParameterizedTest
    @ValueSource(strings = {"auto", "virtual"})
    void theBucketIsInTheHostsNameWhereTheServerDemandsIt(String addressing) throws Exception {
        S3Server server = new S3Server(true, S3Proxy.builder().virtualHost("store.invalid"));
        server.proxy.fault = (request, to) -> {
            if (request.headers.get("host").startsWith("bucket.")) {
                return false;
            }
            to.write(FaultProxy.error("403 Forbidden", "SecondLevelDomainForbidden"));
            return true;
        };
        try (ForwardProxy proxy = new ForwardProxy(server.proxy.uri().getPort(), null)) {
            System.setProperty("http.proxyHost", "127.0.0.1");
            System.setProperty("http.proxyPort", proxy.address().substring(10));
            Options options = server.options()
                    .with(S3Options.ENDPOINT, "http://store.invalid")
                    .with("penstock.s3.addressing", addressing);
            write(options, PARTS);
            assertThat(read(options, S3Server.uri("object"))).isEqualTo(server.get("object"));
            assertThatThrownBy(() -> read(options.with("penstock.s3.addressing", "path"), S3Server.uri("object")))
                    .hasMessageContaining("SecondLevelDomainForbidden");
        } finally {
            System.clearProperty("http.proxyHost");
            System.clearProperty("http.proxyPort");
            server.stop();
        }
    }
}
