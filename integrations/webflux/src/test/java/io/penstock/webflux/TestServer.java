// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import org.springframework.web.server.handler.ResponseStatusExceptionHandler;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** A folder over HTTP on a loopback port: GET and HEAD send, PUT receives. */
final class TestServer implements AutoCloseable {

    private final HttpFiles files;
    private final Path folder;
    private final DisposableServer server;
    private final HttpClient client = HttpClient.newHttpClient();
    private final Sinks.Empty<Void> settled = Sinks.empty();

    TestServer(HttpFiles files, Path folder) {
        this(files, folder, HttpServer.create());
    }

    TestServer(HttpFiles files, Path folder, HttpServer http) {
        this.files = files;
        this.folder = folder;
        server = http.host("localhost")
                .port(0)
                .handle(new ReactorHttpHandlerAdapter(WebHttpHandlerBuilder.webHandler(this::handle)
                        .exceptionHandler(new ResponseStatusExceptionHandler())
                        .build()))
                .bindNow();
    }

    private Mono<Void> handle(ServerWebExchange exchange) {
        Path path =
                HttpFiles.below(folder, exchange.getRequest().getURI().getPath().substring(1));
        if (!HttpMethod.PUT.equals(exchange.getRequest().getMethod())) {
            return files.send(path, exchange);
        }
        return files.receive(exchange.getRequest(), path)
                .doFinally(signal -> settled.tryEmitEmpty())
                .flatMap(bytes -> {
                    exchange.getResponse().setStatusCode(HttpStatus.CREATED);
                    return exchange.getResponse().setComplete();
                });
    }

    /** Completes when the first upload has ended in any way. */
    Mono<Void> settled() {
        return settled.asMono();
    }

    int port() {
        return server.port();
    }

    HttpRequest.Builder to(String name) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port() + "/" + name));
    }

    /** Sends a request with pairs of header names and values. */
    HttpResponse<byte[]> get(String name, String... headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = to(name);
        return send(headers.length == 0 ? request : request.headers(headers));
    }

    HttpResponse<byte[]> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    @Override
    public void close() {
        server.disposeNow();
    }
}
