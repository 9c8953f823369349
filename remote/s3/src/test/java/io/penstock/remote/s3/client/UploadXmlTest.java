// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Options;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What servers call uploads and parts, which is any text, on its way through XML and queries. */
@Tag("once")
@ExtendWith(Certificates.class)
class UploadXmlTest {

    private S3Server server;
    private Signer signer;
    private CrtClient client;
    private Multipart upload;

    @BeforeEach
    void open() throws Exception {
        server = new S3Server(true);
        CrtClient.Settings settings = CrtClient.Settings.of(server.options());
        signer = new Signer(settings.region());
        client = new CrtClient(settings, signer);
        Address address =
                Address.of(S3Server.uri("object"), settings.endpoint(), settings.region(), settings.addressing());
        upload = new Multipart(client, address, RequestHeaders.of(Options.none()), false);
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        signer.close();
        server.stop();
    }

    /** Answers as a server does that knows this upload and this part. */
    private void answer(String id, String etag) {
        server.proxy.fault = (request, to) -> {
            String xml = request.target.contains("uploads=")
                    ? "<R><UploadId>" + id + "</UploadId></R>"
                    : "<CompleteMultipartUploadResult/>";
            to.write(FaultProxy.text("HTTP/1.1 200 OK\r\nETag: " + etag + "\r\nContent-Length: " + xml.length()));
            to.write(xml.getBytes(StandardCharsets.US_ASCII));
            return true;
        };
    }

    private String part() throws Exception {
        CompletableFuture<String> etag = new CompletableFuture<>();
        upload.part(1, ByteBuffer.allocateDirect(1), (tag, error) -> etag.complete(error == null ? tag : "" + error));
        return etag.get(30, TimeUnit.SECONDS);
    }

    @Test
    void theIdOfAnUploadIsTheTextThatItsXmlStandsFor() throws Exception {
        answer("a&amp;b&lt;&#43;&#x2F;&#xD800;c&none;~", "\"tag\"");
        assertThat(part()).isEqualTo("\"tag\"");
        assertThat(server.proxy.requests("PUT").get(0).target)
                .endsWith("?partNumber=1&uploadId=a%26b%3C%2B%2F%26%23xD800%3Bc%26none%3B~");
        upload.abort();
        assertThat(server.proxy.requests("DELETE").get(0).target)
                .endsWith("?uploadId=a%26b%3C%2B%2F%26%23xD800%3Bc%26none%3B~");
    }

    @Test
    void theTagsOfPartsAreEscapedInTheListOfThem() throws Exception {
        answer("id", "\"a&b<c\"");
        CompletableFuture<String> end = new CompletableFuture<>();
        upload.complete(List.of(part()), error -> end.complete("" + error));
        assertThat(end.get(30, TimeUnit.SECONDS)).isEqualTo("null");
        assertThat(new String(server.proxy.requests("POST").get(1).body, StandardCharsets.UTF_8))
                .contains("<ETag>\"a&amp;b&lt;c\"</ETag>");
    }
}
