// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.turntable;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.penstock.Backend;
import io.penstock.renderer.View;
import java.io.IOException;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Streams a turn around a volume as browsers show it, a picture as soon as the client has taken the one before. */
@SpringBootApplication
@RestController
public class TurntableServer {

    private final Turntable turntable;

    TurntableServer(Turntable turntable) {
        this.turntable = turntable;
    }

    public static void main(String[] arguments) {
        SpringApplication.run(TurntableServer.class, arguments);
    }

    @Bean
    static Turntable turntable(@Value("${penstock.backend:host}") String backend, @Value("${volume:}") String volume)
            throws IOException {
        return Turntable.open(backend, volume);
    }

    /** For the starter: health and meters. */
    @Bean(destroyMethod = "") // the turntable closes it
    static Backend backend(Turntable turntable) {
        return turntable.backend();
    }

    /** Answers with {@code frames} pictures, each from another side: light on surfaces, or the view that is named. */
    @GetMapping("/turntable")
    Mono<Void> get(
            @RequestParam(defaultValue = "SHADED") View view,
            @RequestParam(defaultValue = "72") int frames,
            ServerHttpResponse response) {
        if (frames < 1) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "frames must be at least 1, was " + frames);
        }
        response.getHeaders().setContentType(MediaType.parseMediaType("multipart/x-mixed-replace;boundary=frame"));
        DataBufferFactory buffers = response.bufferFactory();
        // Not writeWith, which would ask for many pictures ahead: here each is drawn once the one before is written.
        return response.writeAndFlushWith(Flux.range(0, frames)
                .map(frame -> turntable
                        .picture(view, 360.0 * frame / frames)
                        .flatMapIterable(jpeg -> List.of(
                                text("--frame\r\nContent-Type: image/jpeg\r\n\r\n", buffers),
                                buffers.wrap(jpeg),
                                text("\r\n", buffers))))
                .concatWithValues(Flux.just(text("--frame--\r\n", buffers))));
    }

    private static DataBuffer text(String line, DataBufferFactory buffers) {
        return buffers.wrap(line.getBytes(US_ASCII));
    }
}
