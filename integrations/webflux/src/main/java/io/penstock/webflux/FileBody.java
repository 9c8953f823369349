// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.netty.http.ByteRanges;
import io.penstock.netty.http.FileParts;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The body of a response: parts of a file, and the text around them if there are several.
 *
 * @param contentRange the one span that was requested; null for the whole file, and for several spans
 */
record FileBody(
        ServedFile file,
        FileParts parts,
        boolean partial,
        String type,
        @Nullable String contentRange) {

    /**
     * Creates the body.
     *
     * @param ranges what was requested; empty for the whole file
     * @param type of the file
     */
    static FileBody of(ServedFile file, Optional<List<ByteRanges.Span>> ranges, String type) {
        long size = file.size();
        return ranges.map(spans -> new FileBody(
                        file,
                        FileParts.of(spans, size, type),
                        true,
                        type,
                        spans.size() == 1 ? spans.get(0).contentRange(size) : null))
                .orElseGet(() -> new FileBody(file, FileParts.of(0, size), false, type, null));
    }

    /** Sets status and headers. */
    void describe(ServerHttpResponse response) {
        HttpHeaders headers = response.getHeaders();
        response.setStatusCode(partial ? HttpStatus.PARTIAL_CONTENT : HttpStatus.OK);
        headers.setContentLength(parts.length());
        headers.set(HttpHeaders.CONTENT_TYPE, parts.contentType(type));
        if (contentRange != null) {
            headers.set(HttpHeaders.CONTENT_RANGE, contentRange);
        }
    }

    /** Emits the body; fails if the file has become shorter. */
    Flux<DataBuffer> bytes(Function<StreamPlan, Flux<DataBuffer>> stream, StorageFile open, DataBufferFactory factory) {
        return Flux.fromIterable(parts.parts())
                .concatMap(part -> text(part.head(), factory).concatWith(exactly(part, stream, open)), 0)
                .concatWith(text(parts.end(), factory))
                // What arrives while the client hangs up is dropped by concatMap; Reactor Netty's own hook is for
                // ByteBufs.
                .doOnDiscard(DataBuffer.class, DataBufferUtils::release);
    }

    private static Flux<DataBuffer> text(String text, DataBufferFactory factory) {
        return text.isEmpty()
                ? Flux.empty()
                : Flux.defer(() -> Flux.just(factory.wrap(text.getBytes(StandardCharsets.US_ASCII))));
    }

    private Flux<DataBuffer> exactly(
            FileParts.Part part, Function<StreamPlan, Flux<DataBuffer>> stream, StorageFile open) {
        return Flux.defer(() -> {
            AtomicLong left = new AtomicLong(part.length());
            return stream.apply(StreamPlan.of(open.region(part.offset(), part.length())))
                    .doOnNext(buffer -> left.addAndGet(-buffer.readableByteCount()))
                    .concatWith(Mono.defer(() -> left.get() == 0 ? Mono.empty() : Mono.error(shorter(left.get()))));
        });
    }

    /** Not an EOFException, which Spring takes for a client that hung up: it would leave the connection open. */
    private FileSystemException shorter(long bytes) {
        return new FileSystemException(
                file.path().toString(), null, "became shorter while it was sent: " + bytes + " bytes are missing");
    }
}
