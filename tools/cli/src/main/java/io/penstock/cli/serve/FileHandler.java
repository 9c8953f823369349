// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.penstock.file.LateErrors;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** Answers requests with files of a directory. */
final class FileHandler implements BiFunction<HttpServerRequest, HttpServerResponse, Publisher<Void>> {

    private static final Logger LOG = LoggerFactory.getLogger(FileHandler.class);

    /** Characters of a host and a port (RFC 3986, 3.2.2), empty included. */
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._~%!$&'()*+,;=:\\[\\]-]*");

    private static final String HINT =
            "penstock serve: GET /PATH returns the file of that path below the folder that is"
                    + " served, whole or by ranges. Folders are not listed.\n";

    private final Hosts hosts;
    private final ServedDirectory directory;
    private final Contents contents;

    FileHandler(Hosts hosts, ServedDirectory directory, Contents contents) {
        this.hosts = hosts;
        this.directory = directory;
        this.contents = contents;
    }

    @Override
    public Publisher<Void> apply(HttpServerRequest request, HttpServerResponse response) {
        HttpMethod method = request.method();
        if (!hasOneHost(request)) {
            return send(response, Reply.of(HttpResponseStatus.BAD_REQUEST).last());
        }
        if (!hosts.answer(request.requestHeaders().get(HttpHeaderNames.HOST, "").strip())) {
            return send(
                    response, Reply.of(HttpResponseStatus.MISDIRECTED_REQUEST).last());
        }
        if (!method.equals(HttpMethod.GET) && !method.equals(HttpMethod.HEAD)) {
            Reply refusal = Reply.of(HttpResponseStatus.METHOD_NOT_ALLOWED);
            return send(response, hasBody(request) ? refusal.last() : refusal);
        }
        if (hasBody(request)) { // which is not read, so what follows it is not parsed
            return send(
                    response,
                    Reply.of(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE).last());
        }
        Optional<RequestPath> path = RequestPath.parse(request.uri());
        if (path.isEmpty()) {
            return send(response, Reply.of(HttpResponseStatus.BAD_REQUEST));
        }
        // File system calls may block, for long on a network file system: not on a thread that serves a hundred
        // connections.
        return Mono.fromCallable(() -> directory.find(path.get()))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(found -> found.isPresent()
                        ? answer(request, response, found.get())
                        : hint(request, response, path.get().segments().equals(List.of(""))))
                .onErrorResume(IOException.class, e -> refuse(response, e))
                .contextWrite(LateErrors::debugged); // of clients that leave meanwhile
    }

    private Mono<Void> answer(HttpServerRequest request, HttpServerResponse response, FoundFile file) {
        Reply reply = Reply.of(request.method(), request.requestHeaders(), file, Instant.now());
        if (reply.body().parts().isEmpty()) {
            return send(response, reply);
        }
        // Opened before the headers are sent, so that a refusal can still have a status.
        return contents.use(file, content -> send(response, reply, content));
    }

    /** For a person with a browser, who has not read that nothing is listed. */
    private static Mono<Void> hint(HttpServerRequest request, HttpServerResponse response, boolean root) {
        Reply reply = Reply.of(root ? HttpResponseStatus.OK : HttpResponseStatus.NOT_FOUND);
        reply.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
                .set(HttpHeaderNames.CONTENT_LENGTH, HINT.length());
        boolean text = request.method().equals(HttpMethod.GET);
        return start(response, reply)
                .sendString(text ? Mono.just(HINT) : Mono.empty())
                .then();
    }

    /** RFC 9112, 3.2: HTTP/1.1 requires exactly one; more than one or an invalid host is refused. */
    private static boolean hasOneHost(HttpServerRequest request) {
        List<String> hosts = request.requestHeaders().getAll(HttpHeaderNames.HOST);
        if (hosts.isEmpty()) {
            return request.version().equals(HttpVersion.HTTP_1_0);
        }
        return hosts.size() == 1 && HOST.matcher(hosts.get(0).strip()).matches();
    }

    private static boolean hasBody(HttpServerRequest request) {
        String length = request.requestHeaders().get(HttpHeaderNames.CONTENT_LENGTH, "0");
        return !length.strip().equals("0") || request.requestHeaders().contains(HttpHeaderNames.TRANSFER_ENCODING);
    }

    private static Mono<Void> send(HttpServerResponse response, Reply reply) {
        return start(response, reply).send().then();
    }

    private static Mono<Void> send(HttpServerResponse response, Reply reply, Contents.Content content) {
        return Mono.defer(() -> {
            HttpServerResponse started = start(response, reply);
            return content.cached(reply.body())
                    .map(region -> started.sendObject(region).then())
                    .orElseGet(() -> started.send(content.bytes(reply.body())).then());
        });
    }

    private static HttpServerResponse start(HttpServerResponse response, Reply reply) {
        response.status(reply.status());
        response.responseHeaders().set(reply.headers());
        if (response.version().equals(HttpVersion.HTTP_1_0)
                && response.isKeepAlive()
                && !reply.headers().contains(HttpHeaderNames.CONNECTION)) {
            response.header(
                    HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE); // else the client waits for the end
        }
        return response;
    }

    private static Mono<Void> refuse(HttpServerResponse response, IOException e) {
        if (response.hasSentHeaders()) {
            return Mono.error(e); // the connection is closed, which shows the client that bytes are missing
        }
        if (e instanceof AccessDeniedException) {
            return send(response, Reply.of(HttpResponseStatus.FORBIDDEN));
        }
        if (e instanceof NoSuchFileException) {
            return send(response, Reply.of(HttpResponseStatus.NOT_FOUND)); // deleted since it was found
        }
        LOG.warn("a request failed: {}", e.toString());
        return send(response, Reply.of(HttpResponseStatus.INTERNAL_SERVER_ERROR));
    }
}
