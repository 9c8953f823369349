// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.engine.stream.LiveLeases;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;
import reactor.test.StepVerifier;

/** Files that others change between two steps of an answer. */
class ChangedFilesTest {

    @TempDir
    Path folder;

    private Backend host;
    private Path path;

    @BeforeEach
    void open() throws IOException {
        host = Backends.open("host");
        path = Files.writeString(folder.resolve("file"), "old bytes, and some more");
    }

    @AfterEach
    void close() {
        host.close();
        LiveLeases.awaitNone();
    }

    private static MockServerWebExchange get() {
        return MockServerWebExchange.from(MockServerHttpRequest.get("/").build());
    }

    /** Returns a backend before whose first call of a method the file gets other content. */
    private Backend changing(String called, String content) {
        AtomicBoolean done = new AtomicBoolean();
        return Watched.backend(host, (method, arguments) -> {
            if (method.equals(called) && done.compareAndSet(false, true)) {
                Path other = Files.writeString(folder.resolve("other"), content);
                Files.move(other, path, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            }
        });
    }

    @Test
    void aFileThatIsReplacedBeforeItIsOpenedIsSentWithItsOwnHeaders() {
        MockServerWebExchange exchange = get();
        HttpFiles files = new HttpFiles(changing("openFile", "new bytes"));
        StepVerifier.create(files.send(path, exchange)).verifyComplete();
        StepVerifier.create(exchange.getResponse().getBodyAsString())
                .expectNext("new bytes")
                .verifyComplete();
        MockServerWebExchange later = get();
        StepVerifier.create(new HttpFiles(host).send(path, later)).verifyComplete();
        HttpHeaders sent = exchange.getResponse().getHeaders();
        assertThat(sent.getContentLength()).isEqualTo(9);
        assertThat(sent.getETag())
                .as("by which a client would take the bytes of one file for the bytes of the other")
                .isEqualTo(later.getResponse().getHeaders().getETag());
        later.getResponse().getBody().doOnNext(DataBufferUtils::release).blockLast();
    }

    @Test
    void aFileThatIsWrittenToAllTheTimeIsSentAsItWasWhenItWasOpen() {
        AtomicInteger times = new AtomicInteger();
        Backend growing = Watched.backend(host, (method, arguments) -> {
            if (method.equals("openFile") && times.incrementAndGet() < 50) {
                Files.writeString(path, "; more", StandardOpenOption.APPEND);
            }
        });
        MockServerWebExchange exchange = get();
        StepVerifier.create(new HttpFiles(growing).send(path, exchange)).verifyComplete();
        StepVerifier.create(exchange.getResponse().getBodyAsString())
                .expectNext("old bytes, and some more; more")
                .verifyComplete();
        assertThat(times).as("opened once").hasValue(1);
        assertThat(exchange.getResponse().getHeaders().getContentLength()).isEqualTo(30);
        MockServerWebExchange later = get();
        StepVerifier.create(new HttpFiles(host).send(path, later)).verifyComplete();
        assertThat(exchange.getResponse().getHeaders().getETag())
                .isEqualTo(later.getResponse().getHeaders().getETag());
        later.getResponse().getBody().doOnNext(DataBufferUtils::release).blockLast();
    }

    @Test
    void aTagOfTheApplicationIsKept() {
        MockServerWebExchange exchange = get();
        exchange.getResponse().getHeaders().setETag("\"own\"");
        HttpFiles files = new HttpFiles(changing("openFile", "new bytes"));
        StepVerifier.create(files.send(path, exchange)).verifyComplete();
        assertThat(exchange.getResponse().getHeaders().getETag()).isEqualTo("\"own\"");
    }

    @Test
    void aFileThatBecomesShorterIsAFailureNotAShortAnswer() {
        Backend shortening = Watched.backend(host, (method, arguments) -> {
            if (method.equals("stream")) {
                Files.writeString(path, "old");
            }
        });
        ServerWebExchange exchange = get();
        StepVerifier.create(new HttpFiles(shortening).send(path, exchange).then(body(exchange)))
                .verifyErrorMatches(failure -> failure instanceof FileSystemException shorter
                        && String.valueOf(shorter.getReason()).contains("21 bytes are missing"));
    }

    /** Sends and receives at once: a mock's body fails as the sending does. */
    private static reactor.core.publisher.Mono<String> body(ServerWebExchange exchange) {
        return ((MockServerWebExchange) exchange).getResponse().getBodyAsString();
    }
}
