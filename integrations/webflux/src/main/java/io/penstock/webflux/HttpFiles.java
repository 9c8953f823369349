// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.penstock.Backend;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.WritePlan;
import io.penstock.file.BlockingCall;
import io.penstock.file.LateErrors;
import io.penstock.file.PartFile;
import io.penstock.netty.http.ByteRanges;
import io.penstock.netty.http.FileVersion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.MediaTypeFactory;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Sends files as HTTP responses, and receives them as request bodies, for handlers of any style.
 *
 * <p>A request holds at most {@code depth} chunks of {@code chunkBytes}, whatever the length of the file and the speed
 * of the client. Immutable and thread-safe.
 */
public final class HttpFiles {

    private static final int DEFAULT_CHUNK = 256 << 10;
    private static final int DEFAULT_DEPTH = 2;
    private static final Duration DEFAULT_STALL = Duration.ofSeconds(30);

    static {
        // The first date that is formatted loads the JDK's time zones from a file: now, not while a request is
        // answered.
        new HttpHeaders().setLastModified(0);
    }

    private final Backend backend;
    private final int chunkBytes;
    private final int depth;
    private final Duration stall;
    private final boolean sendfile;

    /** Reads and writes with {@code backend}, which the caller closes; the processor must address its memory. */
    public HttpFiles(Backend backend) {
        this(backend, DEFAULT_CHUNK, DEFAULT_DEPTH, DEFAULT_STALL, true);
    }

    private HttpFiles(Backend backend, int chunkBytes, int depth, Duration stall, boolean sendfile) {
        this.backend = backend;
        this.chunkBytes = chunkBytes;
        this.depth = depth;
        this.stall = stall;
        this.sendfile = sendfile;
    }

    /**
     * Returns the same with chunks of at most {@code bytes} (default: 256 KiB).
     *
     * @throws IllegalArgumentException if less than 1
     */
    public HttpFiles chunkBytes(int bytes) {
        checkPositive("chunkBytes", bytes);
        return new HttpFiles(backend, bytes, depth, stall, sendfile);
    }

    /**
     * Returns the same with {@code chunks} held at a time by a request (default: 2).
     *
     * @throws IllegalArgumentException if less than 1
     */
    public HttpFiles depth(int chunks) {
        checkPositive("depth", chunks);
        return new HttpFiles(backend, chunkBytes, chunks, stall, sendfile);
    }

    /**
     * Returns the same with another limit for uploads that come slowly (default: 30 s):
     * {@link #receive(ServerHttpRequest, Path)} fails if its client sends no byte for so long, or, by and large, fewer
     * than 1000 bytes a second. Only the time in which a byte is waited for counts.
     *
     * @param limit zero for no limit
     * @throws IllegalArgumentException if negative
     */
    public HttpFiles stallTimeout(Duration limit) {
        if (limit.isNegative()) {
            throw new IllegalArgumentException("stallTimeout must not be negative, was " + limit);
        }
        return new HttpFiles(backend, chunkBytes, depth, limit, sendfile);
    }

    /**
     * Returns the same, where {@link #send} has the kernel send what is in the page cache (default: true), or reads all
     * by the backend. By the kernel it costs no copy: over Reactor Netty, HTTP/1.1 without TLS and compression, a whole
     * file or one range of at most 1 GiB.
     */
    public HttpFiles sendfile(boolean whereCached) {
        return new HttpFiles(backend, chunkBytes, depth, stall, whereCached);
    }

    private static void checkPositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be at least 1, was " + value);
        }
    }

    /**
     * Returns the path of {@code name} below {@code folder}, for names that come from clients. Links are followed when
     * it is opened.
     *
     * @param name relative, with slashes; one slash before it, as Spring's <code>{*name}</code> has it, is left out
     * @throws ResponseStatusException NOT_FOUND if the name leads out of the folder, to the folder itself or through a
     *     name that begins with a dot, or if it is no path
     */
    public static Path below(Path folder, String name) {
        try {
            String relative = name.startsWith("/") ? name.substring(1) : name;
            Path path = folder.getFileSystem().getPath(relative);
            if (path.getRoot() == null && !relative.isEmpty() && !isHidden(path)) {
                return folder.resolve(path);
            }
        } catch (InvalidPathException noPath) {
            // as a file that does not exist
        }
        throw new ResponseStatusException(HttpStatus.NOT_FOUND);
    }

    /** Also true for "." and "..". */
    private static boolean isHidden(Path relative) {
        for (Path name : relative) {
            if (name.toString().startsWith(".")) {
                return true;
            }
        }
        return false;
    }

    /**
     * Answers with a file: GET with ranges, HEAD, and conditional requests.
     *
     * <p><b>Result:</b> completes when the response has been written. Where its body is read later, as by a
     * {@code WebTestClient} without a server, the file is opened again then. A {@code Content-Type} that is set already
     * is kept; otherwise the file's name decides it. A file that reports length 0, such as a file in {@code /proc}, is
     * sent empty.
     *
     * <p><b>Threading:</b> the file system is called on {@link Schedulers#boundedElastic()}; the rest as
     * {@link Backend#stream}.
     *
     * <p><b>Errors:</b> {@link ResponseStatusException} NOT_FOUND if there is no such regular file, FORBIDDEN if it
     * must not be read, PRECONDITION_FAILED if it is another version than {@code If-Match} requires;
     * {@link IllegalStateException} if the processor cannot address the backend's memory; others of
     * {@link Backend#openFile} and {@link Backend#stream}. If the file becomes shorter while it is sent, an
     * {@link IOException}, which ends the connection.
     *
     * <p><b>Cancellation:</b> at any moment; ends the leases and closes the file.
     */
    public Mono<Void> send(Path path, ServerWebExchange exchange) {
        return Mono.defer(this::addressable)
                .then(backend.withFile(path, FileOption.READ, open -> answer(open, exchange)))
                .onErrorResume(FileSystemException.class, e -> refuse(path, e, exchange.getResponse()))
                .contextWrite(LateErrors::debugged);
    }

    /** Returns a file as the value of a handler, whose methods touch it: {@code below(folder, name)} for names of clients. */
    public FileResource resource(Path path) {
        return new FileResource(backend, path);
    }

    /**
     * Returns the codec by which WebFlux sends what handlers return as {@link FileResource}, or in a {@code Mono} or a
     * {@code ResponseEntity} of it, as {@link #send} does: {@code configurer.customCodecs().register(files.writer())}.
     * The starter registers it. A handler that declares {@code Resource} gets Spring's own, which copies.
     */
    public HttpMessageWriter<FileResource> writer() {
        return new FileResourceWriter(this);
    }

    /** Completes, or fails before the response has begun: the first chunk would fail behind its head. */
    private Mono<Void> addressable() {
        return backend.capabilities().hostVisible()
                ? Mono.empty()
                : Mono.error(new IllegalStateException("the processor cannot address the memory of backend "
                        + backend.name() + ": HttpFiles needs one where it can, such as host"));
    }

    /** Fails with the status that a client gets, unless the response has begun. */
    private static Mono<Void> refuse(Path path, FileSystemException cause, ServerHttpResponse response) {
        Throwable refusal = status(cause);
        if (refusal != cause || response.isCommitted()) {
            return Mono.error(refusal);
        }
        // A folder, a pipe, a path through a file, a name that is too long: the system has an error for each.
        return BlockingCall.of(() -> Files.isRegularFile(path))
                .flatMap(is -> Mono.error(is ? cause : new ResponseStatusException(HttpStatus.NOT_FOUND, null, cause)));
    }

    static Throwable status(Throwable cause) {
        if (cause instanceof NoSuchFileException) {
            return new ResponseStatusException(HttpStatus.NOT_FOUND, null, cause);
        }
        return cause instanceof AccessDeniedException
                ? new ResponseStatusException(HttpStatus.FORBIDDEN, null, cause)
                : cause;
    }

    private Mono<Void> answer(StorageFile open, ServerWebExchange exchange) {
        BasicFileAttributes attributes = open.attributes();
        if (!attributes.isRegularFile()) {
            return Mono.error(new NoSuchFileException(open.path().toString(), null, "not a regular file"));
        }
        ServedFile file = new ServedFile(open.path(), attributes);
        ServerHttpResponse response = exchange.getResponse();
        FileVersion version = file.version();
        HttpHeaders asked = exchange.getRequest().getHeaders();
        List<String> required = lines(asked, HttpHeaders.IF_MATCH); // which Spring ignores if the method is GET or HEAD
        if (!required.isEmpty() && !version.isListed(required, false)) {
            return Mono.error(new ResponseStatusException(HttpStatus.PRECONDITION_FAILED));
        }
        if (exchange.checkNotModified(version.entityTag(), version.lastModified())) {
            return response.setComplete();
        }
        HttpHeaders headers = response.getHeaders();
        headers.set(HttpHeaders.ACCEPT_RANGES, "bytes");
        boolean head = HttpMethod.HEAD.equals(exchange.getRequest().getMethod());
        Optional<List<ByteRanges.Span>> ranges = head
                ? Optional.empty() // which are for GET only
                : ranges(asked, version, file.size());
        if (ranges.isPresent() && ranges.get().isEmpty()) {
            response.setStatusCode(HttpStatus.REQUESTED_RANGE_NOT_SATISFIABLE);
            headers.set(HttpHeaders.CONTENT_RANGE, "bytes */" + file.size());
            return response.setComplete();
        }
        FileBody body = FileBody.of(file, ranges, type(file, headers));
        if (head || body.parts().parts().isEmpty()) {
            body.describe(response);
            return response.setComplete();
        }
        return write(body, open, response);
    }

    /** Returns the values as they were sent, by a method that HttpHeaders of Spring 6 and 7 have: they differ in get(). */
    private static List<String> lines(HttpHeaders headers, String name) {
        List<String> lines = new ArrayList<>();
        headers.forEach((each, values) -> {
            if (each.equalsIgnoreCase(name)) {
                lines.addAll(values);
            }
        });
        return lines;
    }

    private static Optional<List<ByteRanges.Span>> ranges(HttpHeaders asked, FileVersion version, long size) {
        String range = asked.getFirst(HttpHeaders.RANGE);
        String validator = asked.getFirst(HttpHeaders.IF_RANGE);
        return range != null && version.rangeApplies(validator, date(asked, validator), Instant.now())
                ? ByteRanges.parse(range, size)
                : Optional.empty();
    }

    private static @Nullable Instant date(HttpHeaders asked, @Nullable String validator) {
        try {
            return validator == null || validator.contains("\"")
                    ? null
                    : Instant.ofEpochMilli(asked.getFirstDate(HttpHeaders.IF_RANGE));
        } catch (IllegalArgumentException noDate) {
            return null;
        }
    }

    private static String type(ServedFile file, HttpHeaders headers) {
        MediaType chosen = headers.getContentType();
        MediaType type = chosen != null
                ? chosen
                : MediaTypeFactory.getMediaType(String.valueOf(file.path().getFileName()))
                        .orElse(MediaType.APPLICATION_OCTET_STREAM);
        return type.toString();
    }

    private Mono<Void> write(FileBody body, StorageFile open, ServerHttpResponse response) {
        body.describe(response);
        DataBufferFactory factory = response.bufferFactory();
        Function<StorageFile, Flux<DataBuffer>> bytes =
                file -> body.bytes(plan -> DataBuffers.stream(backend, plan(plan, factory), factory), file, factory);
        ResponseBytes sent = new ResponseBytes(bytes.apply(open), late(body.file(), bytes));
        // Not writeWith, whose operator keeps the first buffer until the headers are written, and forgets one that
        // arrives after the client has hung up. Here it keeps a publisher.
        Mono<Void> write = Mono.defer(() -> response.writeAndFlushWith(Mono.just(sent.bytes())));
        Mono<Void> read = unlessLeft(write).then(sent.over());
        // Deferred, so that what is opened is always subscribed to, which closes it.
        Mono<Void> cached = Mono.defer(() -> CachedBody.of(body.parts(), open, response)
                .map(HttpFiles::unlessLeft)
                .orElse(read));
        return sendfile && factory instanceof NettyDataBufferFactory ? cached : read;
    }

    /** A client that has left fails the write too, which is nobody's error then. */
    private static Mono<Void> unlessLeft(Mono<Void> write) {
        return Mono.defer(() -> {
            AtomicBoolean left = new AtomicBoolean();
            return write.onErrorResume(e -> left.get() ? Mono.empty() : Mono.error(e))
                    .doOnCancel(() -> left.set(true));
        });
    }

    private StreamPlan plan(StreamPlan plan, DataBufferFactory factory) {
        StreamPlan bounded = plan.chunkBytes(chunkBytes).depth(depth);
        // Reactor Netty hands buffers to its event loop; other servers may write to the socket on the thread of the
        // signal.
        return factory instanceof NettyDataBufferFactory ? bounded.directDelivery() : bounded;
    }

    /**
     * Opens the file again, and closes it when the body ends or is cancelled, also if it is opened after the cancel.
     */
    private Flux<DataBuffer> late(ServedFile file, Function<StorageFile, Flux<DataBuffer>> bytes) {
        return Flux.using(
                Disposables::swap,
                held -> backend.openFile(file.path(), FileOption.READ)
                        .doOnNext(open -> held.update(open::close))
                        .flatMapMany(open -> file.equals(new ServedFile(file.path(), open.attributes()))
                                ? bytes.apply(open)
                                : Flux.error(replaced(file))),
                Disposable::dispose);
    }

    private static FileSystemException replaced(ServedFile file) {
        return new FileSystemException(file.path().toString(), null, "was replaced before it was sent");
    }

    /**
     * Writes a request's body to a file, which appears as a whole or not at all: it has a hidden name beside
     * {@code target} until all bytes are durable, and then replaces what {@code target} is.
     *
     * <p><b>Result:</b> the number of bytes, when the file has its name and is durable.
     *
     * <p><b>Threading:</b> names are given on {@link Schedulers#boundedElastic()}; the rest as {@link Backend#write}.
     *
     * <p><b>Errors:</b> the errors of {@code body}; {@link ResponseStatusException} NOT_FOUND if there is no such
     * folder, or the name is too long for a file, FORBIDDEN if it must not be written, or {@code target} is a folder, a
     * device or a pipe, or a link to one; {@link IllegalStateException} if the processor cannot address the backend's
     * memory; others of {@link Backend#write}. Nothing is left behind.
     *
     * <p><b>Cancellation:</b> at any moment. The file has appeared, or nothing is left behind; the latter may end after
     * the cancel.
     *
     * <p><b>Ownership:</b> releases the buffers of {@code body}.
     */
    public Mono<Long> receive(Publisher<? extends DataBuffer> body, Path target) {
        return receive(body, target, Duration.ZERO, () -> {});
    }

    /** @param check throws if what has been written is not the whole body */
    private Mono<Long> receive(
            Publisher<? extends DataBuffer> body, Path target, Duration patience, BlockingCall.Step check) {
        Mono<Long> received = PartFile.write(
                        target,
                        ByteBuffer.allocate(0),
                        part -> DataBuffers.write(backend, plan(part), body, patience)
                                .flatMap(bytes -> BlockingCall.run(check).thenReturn(bytes)),
                        LinkOption.NOFOLLOW_LINKS)
                .onErrorMap(HttpFiles::status)
                .contextWrite(LateErrors::debugged);
        return Mono.defer(this::addressable).then(received);
    }

    /**
     * Writes the body of a request to a file, as {@link #receive(Publisher, Path)} does, if its end is the protocol's:
     * as many bytes as {@code Content-Length} states, or the last chunk. Reactor Netty completes the body of a request
     * that it refuses, such as one with a malformed chunk, and of a connection that it closes itself.
     *
     * <p><b>Errors:</b> an {@link IOException} if the body ends early; {@link ResponseStatusException} BAD_REQUEST if
     * it is a part of a file, by its {@code Content-Range}, REQUEST_TIMEOUT if it comes too slowly
     * ({@link #stallTimeout}), NOT_IMPLEMENTED if it has another transfer coding than {@code chunked},
     * UNSUPPORTED_MEDIA_TYPE if it has a content coding, as the file would be stored in it; as the other method.
     */
    public Mono<Long> receive(ServerHttpRequest request, Path target) {
        ResponseStatusException refusal = UploadRules.refusal(request.getHeaders());
        if (refusal != null) {
            return Mono.error(refusal);
        }
        long length = request.getHeaders().getContentLength();
        return length < 0
                ? receive(request.getBody(), target, stall, () -> UploadRules.checkEnd(request))
                : receive(whole(request.getBody(), length), target, stall, () -> {});
    }

    private static Flux<DataBuffer> whole(Flux<DataBuffer> body, long length) {
        return Flux.defer(() -> {
            AtomicLong left = new AtomicLong(length);
            return body.doOnNext(buffer -> left.addAndGet(-buffer.readableByteCount()))
                    .concatWith(Mono.defer(() -> left.get() == 0
                            ? Mono.empty()
                            : Mono.error(new IOException(
                                    "the body ended early: " + left + " bytes of " + length + " are missing"))));
        });
    }

    private WritePlan plan(Path part) {
        return WritePlan.to(part, FileOption.WRITE)
                .chunkBytes(chunkBytes)
                .depth(depth)
                .sync();
    }
}
