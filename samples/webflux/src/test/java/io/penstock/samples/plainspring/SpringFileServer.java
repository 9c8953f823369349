// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.plainspring;

import java.nio.file.Path;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpRange;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The sample by Spring's own means, for {@code tools/benchmarks/serve}. */
@SpringBootConfiguration
@EnableAutoConfiguration
@RestController
public class SpringFileServer {

    private final Path folder;

    SpringFileServer(@Value("${files.folder}") Path folder) {
        this.folder = folder;
    }

    public static void main(String[] arguments) {
        SpringApplication.run(SpringFileServer.class, arguments);
    }

    /**
     * As Spring's documentation shows it: sent by {@code sendfile}, which needs a server and a file system that can.
     */
    @GetMapping("/files/{name}")
    Resource get(@PathVariable String name) {
        return new FileSystemResource(folder.resolve(name));
    }

    /** Bytes that pass the process: what a filter, a compression or another kind of resource makes of the above. */
    @GetMapping("/buffers/{bytes}/{name}")
    Mono<Void> get(
            @PathVariable int bytes,
            @PathVariable String name,
            @RequestHeader("Range") String range,
            ServerHttpResponse response) {
        Path file = folder.resolve(name);
        HttpRange wanted = HttpRange.parseRanges(range).get(0);
        long size = file.toFile().length();
        long start = wanted.getRangeStart(size);
        long length = wanted.getRangeEnd(size) - start + 1;
        response.setStatusCode(HttpStatus.PARTIAL_CONTENT);
        response.getHeaders().setContentLength(length);
        response.getHeaders().set("Content-Range", "bytes " + start + "-" + (start + length - 1) + "/" + size);
        Flux<DataBuffer> buffers =
                DataBufferUtils.read(new FileSystemResource(file), start, response.bufferFactory(), bytes);
        return response.writeWith(DataBufferUtils.takeUntilByteCount(buffers, length));
    }
}
