// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.remote.http.testing.ForwardProxy;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Objects are read and written through the proxy that the environment names. */
@Tag("once")
@ExtendWith(Certificates.class)
class ProxyVariablesTest {

    @Test
    void anObjectIsWrittenThroughTheProxyThatKnowsItsServer() throws Exception {
        S3Server server = new S3Server(true);
        try (ForwardProxy proxy = new ForwardProxy(server.proxy.uri().getPort(), "user:secret")) {
            OtherProcess.output(
                    ProxyVariablesTest.class,
                    environment -> environment.put("http_proxy", "http://user:secret@" + proxy.address()),
                    "-Dpenstock.s3.endpoint=http://store.invalid:9000");
            assertThat(server.get("object")).isEmpty();
            assertThat(proxy.requests)
                    .contains("GET http://store.invalid:9000/bucket/object HTTP/1.1")
                    .contains("PUT http://store.invalid:9000/bucket/object HTTP/1.1");
        } finally {
            server.stop();
        }
    }

    /** Both would fail by the proxy. */
    @Test
    void whatNoProxyExceptsGoesPastIt() throws Exception {
        S3Server server = new S3Server(true);
        try {
            OtherProcess.output(
                    ProxyVariablesTest.class,
                    environment -> {
                        environment.put("http_proxy", "http://127.0.0.1:1");
                        environment.put("no_proxy", "localhost,127.0.0.1");
                    },
                    "-Dpenstock.s3.endpoint=" + server.proxy.uri());
            assertThat(server.get("object")).isEmpty();
        } finally {
            server.stop();
        }
    }

    /** Writes an empty object. */
    public static void main(String[] arguments) {
        Options options = Options.none().with("penstock.close-timeout", "2s");
        try (Backend backend = Backends.open("host", options);
                StorageFile object = Objects.requireNonNull(backend.openFile(
                                S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE)
                        .block())) {
            object.sync().block();
        }
    }
}
