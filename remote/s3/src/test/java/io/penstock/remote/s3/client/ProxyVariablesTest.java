// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.remote.s3.S3Options;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Objects are written where they are read: without a proxy, whatever the environment names. */
@Tag("once")
@ExtendWith(Certificates.class)
class ProxyVariablesTest {

    private static final String NOBODY = "http://127.0.0.1:1";

    @Test
    void anObjectIsWrittenWithoutTheProxyOfTheEnvironment() throws Exception {
        S3Server server = new S3Server(true);
        try {
            ProcessBuilder writer = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            ProxyVariablesTest.class.getName(),
                            server.proxy.uri().toString())
                    .redirectErrorStream(true);
            writer.environment().put("HTTP_PROXY", NOBODY);
            writer.environment().put("http_proxy", NOBODY);
            Process process = writer.start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(output).isZero();
            assertThat(server.get("object")).isEmpty();
        } finally {
            server.stop();
        }
    }

    /** Writes an empty object. */
    public static void main(String[] arguments) {
        Options options = Options.none().with(S3Options.ENDPOINT, arguments[0]).with("penstock.close-timeout", "2s");
        try (Backend backend = Backends.open("host", options);
                StorageFile object = Objects.requireNonNull(backend.openFile(
                                S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE)
                        .block())) {
            object.sync().block();
        }
    }
}
