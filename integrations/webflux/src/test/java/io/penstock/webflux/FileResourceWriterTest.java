// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.http.client.reactive.MockClientHttpRequest;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Handlers of WebFlux that return a file get the ranges and conditions of {@link HttpFiles#send}. */
class FileResourceWriterTest {

    @TempDir
    Path folder;

    private final byte[] bytes = new byte[300_000];
    private Backend backend;
    private WebTestClient client;

    @RestController
    static final class Handlers {

        private final HttpFiles files;
        private final Path folder;

        Handlers(HttpFiles files, Path folder) {
            this.files = files;
            this.folder = folder;
        }

        @GetMapping("/value/{name}")
        FileResource value(@PathVariable("name") String name) {
            return files.resource(folder.resolve(name));
        }

        @GetMapping("/mono/{name}")
        Mono<FileResource> mono(@PathVariable("name") String name) {
            return Mono.fromSupplier(() -> value(name));
        }

        @GetMapping("/entity/{name}")
        ResponseEntity<FileResource> entity(@PathVariable("name") String name) {
            return ResponseEntity.ok().header("X-Mine", "1").body(value(name));
        }

        @GetMapping("/text")
        Mono<String> text() {
            return Mono.just("no file");
        }

        @GetMapping("/typed/{name}")
        ResponseEntity<FileResource> typed(@PathVariable("name") String name) {
            return ResponseEntity.ok().contentType(MediaType.TEXT_PLAIN).body(value(name));
        }
    }

    @BeforeEach
    void start() throws IOException {
        new Random(7).nextBytes(bytes);
        Files.write(folder.resolve("data.png"), bytes);
        backend = Backends.open("host");
        HttpFiles files = new HttpFiles(backend);
        client = WebTestClient.bindToController(new Handlers(files, folder))
                .httpMessageCodecs(codecs -> codecs.customCodecs().register(files.writer()))
                .configureClient()
                .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(-1))
                .build();
    }

    @AfterEach
    void stop() {
        assertThat(backend.counters().files()).isZero();
        backend.close();
    }

    private WebTestClient.ResponseSpec get(String path, String... headers) {
        return client.get()
                .uri(path)
                .headers(all -> {
                    for (int i = 0; i < headers.length; i += 2) {
                        all.add(headers[i], headers[i + 1]);
                    }
                })
                .exchange();
    }

    private static byte[] body(WebTestClient.ResponseSpec response) {
        return response.expectBody().returnResult().getResponseBody();
    }

    @ParameterizedTest
    @ValueSource(strings = {"value", "mono", "entity"})
    void aHandlerReturnsAFile(String style) {
        String path = "/" + style + "/data.png";
        WebTestClient.ResponseSpec whole = get(path);
        whole.expectStatus().isOk().expectHeader().contentType(MediaType.IMAGE_PNG);
        assertThat(body(whole)).isEqualTo(bytes);
        String tag = get(path).returnResult(byte[].class).getResponseHeaders().getETag();
        WebTestClient.ResponseSpec part = get(path, "Range", "bytes=1000-1999", "If-Range", tag);
        part.expectStatus().isEqualTo(206).expectHeader().valueEquals("Content-Range", "bytes 1000-1999/300000");
        assertThat(body(part)).isEqualTo(Arrays.copyOfRange(bytes, 1000, 2000));
        assertThat(body(get(path, "Range", "bytes=1000-1999", "If-Range", "\"another\"")))
                .as("of another version")
                .isEqualTo(bytes);
        get(path, "If-None-Match", tag).expectStatus().isNotModified();
        client.head().uri(path).exchange().expectHeader().contentLength(bytes.length);
        get("/" + style + "/missing").expectStatus().isNotFound();
    }

    @Test
    void aHandlersHeadersAndTypeAreKept() {
        get("/entity/data.png").expectHeader().valueEquals("X-Mine", "1");
        get("/typed/data.png").expectHeader().contentType(MediaType.TEXT_PLAIN);
        assertThat(body(get("/typed/data.png", "Accept", "text/plain"))).isEqualTo(bytes);
    }

    @Test
    void whatIsNoFileIsWrittenByTheCodecsThatThereAre() {
        assertThat(body(get("/text"))).asString().isEqualTo("no file");
        // Spring asks a codec that takes every type after its own, which then take files, too.
        assertThat(new HttpFiles(backend).writer().canWrite(ResolvableType.forClass(Object.class), null))
                .isFalse();
    }

    @Test
    void aRequestHasNoFiles() {
        HttpFiles files = new HttpFiles(backend);
        assertThatThrownBy(() -> files.writer()
                        .write(
                                Mono.just(files.resource(folder.resolve("data.png"))),
                                ResolvableType.forClass(FileResource.class),
                                null,
                                new MockClientHttpRequest(HttpMethod.POST, "/"),
                                Map.of())
                        .block())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("a FileResource is for responses of a server");
    }
}
