// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where an object is, by its URI, the endpoint and the region. */
class AddressTest {

    @ParameterizedTest
    @CsvSource({
        "s3://models/a/b.bin, eu-west-1, https://models.s3.eu-west-1.amazonaws.com, /a/b.bin",
        "s3://2024-models/k, us-east-1, https://2024-models.s3.us-east-1.amazonaws.com, /k",
        "s3://with.dots/k, us-east-1, https://s3.us-east-1.amazonaws.com, /with.dots/k",
        "s3://with_line/k, us-east-1, https://s3.us-east-1.amazonaws.com, /with_line/k",
        "s3://logs.2024/k, us-east-1, https://s3.us-east-1.amazonaws.com, /logs.2024/k",
        "s3://Models/k, us-east-1, https://s3.us-east-1.amazonaws.com, /Models/k",
        "s3://models/k, cn-north-1, https://models.s3.cn-north-1.amazonaws.com.cn, /k",
        "s3://models/a%20b+c%C3%A9~, us-east-1, https://models.s3.us-east-1.amazonaws.com, /a%20b%2Bc%C3%A9~"
    })
    void awsHasTheBucketInTheNameOfTheHost(String uri, String region, String server, String path) throws IOException {
        Address address = Address.of(URI.create(uri), "", region, S3Options.Addressing.AUTO);
        assertThat(address.server()).isEqualTo(URI.create(server));
        assertThat(address.path()).isEqualTo(path);
        assertThat(address.host()).isEqualTo(URI.create(server).getHost());
    }

    @Test
    void anEndpointHasItInThePath() throws IOException {
        Address address = Address.of(
                URI.create("s3://models/a/b"), "http://localhost:9000", "us-east-1", S3Options.Addressing.AUTO);
        assertThat(address.server()).isEqualTo(URI.create("http://localhost:9000"));
        assertThat(address.path()).isEqualTo("/models/a/b");
        assertThat(address.host()).isEqualTo("localhost:9000");
        assertThat(Address.of(
                                URI.create("s3://with_line/a"),
                                "http://localhost:9000/",
                                "us-east-1",
                                S3Options.Addressing.AUTO)
                        .path())
                .isEqualTo("/with_line/a");
    }

    /** {@link URI} has no host then; services of Docker have such names. */
    @Test
    void theNameOfAnEndpointMayHaveAnUnderscore() throws IOException {
        assertThat(Address.of(
                                URI.create("s3://models/a"),
                                "http://my_store:9000",
                                "us-east-1",
                                S3Options.Addressing.AUTO)
                        .host())
                .isEqualTo("my_store:9000");
        assertThat(Address.of(URI.create("s3://models/a"), "https://my_store/", "us-east-1", S3Options.Addressing.AUTO)
                        .host())
                .isEqualTo("my_store");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "s3:///key",
                "s3://bucket",
                "s3://bucket/",
                "s3://bucket/key?acl",
                "s3://bucket/key?versionId=",
                "s3://bucket/key#versionId",
                "s3://versionId@bucket/key",
                "s3://bucket:9000/key"
            })
    void whatNamesNoObjectIsRefused(String uri) {
        assertThatThrownBy(() -> Address.of(URI.create(uri), "", "us-east-1", S3Options.Addressing.AUTO))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("must be s3://BUCKET/KEY")
                .hasMessageNotContaining("versionId");
    }

    /** A path has neither, and would name another object. */
    @ParameterizedTest
    @ValueSource(strings = {"s3://bucket/key#versionId", "s3://versionId@bucket/key"})
    void whatAPathCannotHaveIsRefused(String uri) {
        assertThatThrownBy(() -> Path.of(URI.create(uri)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be s3://BUCKET/KEY")
                .hasMessageNotContaining("versionId");
        assertThat(Path.of(URI.create("s3://bucket/a%23b")).toUri()).hasToString("s3://bucket/a%23b");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost:9000",
                "http://:9000",
                "http://my_store:x",
                "ftp://localhost",
                "http:// ",
                "http://user@localhost"
            })
    void anEndpointThatIsNoUrlIsRefused(String endpoint) {
        assertThatThrownBy(
                        () -> Address.of(URI.create("s3://models/k"), endpoint, "us-east-1", S3Options.Addressing.AUTO))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("penstock.s3.endpoint must be a URL");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://user:secret@localhost:9000",
                "http://us@er:secret@localhost:9000",
                "user:secret@localhost:9000",
                "http://localhost:9000?token=secret"
            })
    void whatMayBeSecretInAnEndpointIsInNoMessage(String endpoint) {
        assertThatThrownBy(
                        () -> Address.of(URI.create("s3://models/k"), endpoint, "us-east-1", S3Options.Addressing.AUTO))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("penstock.s3.endpoint must be a URL", "localhost:9000")
                .hasMessageNotContaining("secret");
    }

    @ParameterizedTest
    @CsvSource({
        "s3://b/k, http://h:1/s3/x/, PATH, http://h:1, /s3/x/b/k",
        "s3://b/k, http://h:1/s3, AUTO, http://h:1, /s3/b/k",
        "s3://b/k, http://h:1/s3, VIRTUAL, http://b.h:1, /s3/k",
        "s3://b/k, http://h:1, VIRTUAL, http://b.h:1, /k",
        "s3://b/k, '', PATH, https://s3.us-east-1.amazonaws.com, /b/k",
        "s3://b/k?versionId=a%2Fb, http://h:1, AUTO, http://h:1, /b/k?versionId=a%2Fb"
    })
    void anEndpointMayHaveAPathAndTheBucketInItsName(
            String uri, String endpoint, S3Options.Addressing addressing, String server, String target)
            throws IOException {
        Address address = Address.of(URI.create(uri), endpoint, "us-east-1", addressing);
        assertThat(address.server()).isEqualTo(URI.create(server));
        assertThat(address.target()).isEqualTo(target);
    }
}
