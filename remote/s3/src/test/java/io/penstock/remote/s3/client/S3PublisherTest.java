// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** Objects out of an application's publisher: only its completion makes one. */
@Tag("once")
@ExtendWith(Certificates.class)
class S3PublisherTest {

    private static final int PART = 5 << 20;
    private static final byte[] OLD = {'o', 'l', 'd'};

    private S3Server server;
    private Backend backend;
    private Path object;

    @BeforeEach
    void open() throws Exception {
        server = new S3Server(true);
        backend = Backends.open("host", server.options().with(S3Options.PART_BYTES, (long) PART));
        object = Path.of(S3Server.uri("object"));
        backend.write(object, Flux.just(ByteBuffer.wrap(OLD))).block(Duration.ofSeconds(30));
        assertThat(server.get("object")).isEqualTo(OLD);
    }

    @AfterEach
    void close() throws Exception {
        backend.close();
        assertThat(server.get("object")).isEqualTo(OLD);
        assertThat(server.uploads()).as("parts left on the server").isEmpty();
        server.stop();
    }

    private static Flux<ByteBuffer> parts() {
        return Flux.range(0, 3).map(i -> ByteBuffer.allocate(PART));
    }

    @Test
    void anErrorBehindTheLastByteLeavesTheOldObject() {
        StepVerifier.create(backend.write(object, parts().concatWith(Flux.error(new IOException("cut off")))))
                .expectErrorMessage("cut off")
                .verify(Duration.ofSeconds(30));
    }

    @Test
    void aCancelBeforeTheEndLeavesTheOldObject() {
        Sinks.Empty<ByteBuffer> end = Sinks.empty();
        Sinks.Empty<Void> waiting = Sinks.empty();
        Disposable writing = backend.write(
                        object, parts().concatWith(end.asMono().doOnSubscribe(s -> waiting.tryEmitEmpty())))
                .subscribe();
        waiting.asMono().block(Duration.ofSeconds(30));
        writing.dispose();
        end.tryEmitEmpty();
    }
}
