// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The body of a response: spans of a file, and the text around them if there are several.
 *
 * @param spans not empty unless the file is
 * @param partial whether they were asked for
 * @param boundary between the parts of a multipart body; empty if there is one span
 */
record FileBody(ServedFile file, List<ByteRanges.Span> spans, boolean partial, MediaType type, String boundary) {

    /**
     * Creates the body.
     *
     * @param ranges what was asked for; empty for the whole file
     */
    static FileBody of(ServedFile file, Optional<List<ByteRanges.Span>> ranges, MediaType type) {
        List<ByteRanges.Span> whole = file.size() == 0 ? List.of() : List.of(new ByteRanges.Span(0, file.size() - 1));
        List<ByteRanges.Span> spans = ranges.orElse(whole);
        // Not MimeTypeUtils.generateMultipartBoundary(), whose random numbers are read from a file: this thread may not
        // block.
        String boundary = spans.size() < 2
                ? ""
                : HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        return new FileBody(file, spans, ranges.isPresent(), type, boundary);
    }

    /** Sets status and headers. */
    void describe(ServerHttpResponse response) {
        HttpHeaders headers = response.getHeaders();
        response.setStatusCode(partial ? HttpStatus.PARTIAL_CONTENT : HttpStatus.OK);
        headers.setContentLength(length());
        if (!boundary.isEmpty()) {
            headers.set(HttpHeaders.CONTENT_TYPE, "multipart/byteranges; boundary=" + boundary);
            return;
        }
        headers.setContentType(type);
        if (partial) {
            headers.set(HttpHeaders.CONTENT_RANGE, contentRange(spans.get(0)));
        }
    }

    private String contentRange(ByteRanges.Span span) {
        return "bytes " + span.first() + "-" + span.last() + "/" + file.size();
    }

    private long length() {
        return end().length()
                + spans.stream()
                        .mapToLong(span -> head(span).length() + span.length())
                        .sum();
    }

    private String head(ByteRanges.Span span) {
        return boundary.isEmpty()
                ? ""
                : "\r\n--" + boundary + "\r\nContent-Type: " + type + "\r\nContent-Range: " + contentRange(span)
                        + "\r\n\r\n";
    }

    private String end() {
        return boundary.isEmpty() ? "" : "\r\n--" + boundary + "--\r\n";
    }

    /** Emits the body; fails if the file has become shorter. */
    Flux<DataBuffer> bytes(Function<StreamPlan, Flux<DataBuffer>> stream, StorageFile open, DataBufferFactory factory) {
        return Flux.fromIterable(spans)
                .concatMap(span -> text(head(span), factory).concatWith(exactly(span, stream, open)), 0)
                .concatWith(text(end(), factory))
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
            ByteRanges.Span span, Function<StreamPlan, Flux<DataBuffer>> stream, StorageFile open) {
        return Flux.defer(() -> {
            AtomicLong left = new AtomicLong(span.length());
            return stream.apply(StreamPlan.of(open.region(span.first(), span.length())))
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
