// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.CodecException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.penstock.Backends;
import io.penstock.cli.Complaint;
import io.penstock.cli.serve.ClientLimits;
import io.penstock.cli.serve.Limits;
import io.penstock.renderer.volume.Budget;
import io.penstock.renderer.volume.NiftiHeader;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.ChannelBindException;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.http.server.WebsocketServerSpec;
import reactor.netty.http.websocket.WebsocketInbound;
import reactor.netty.http.websocket.WebsocketOutbound;

/** An HTTP/1.1 server of the page, and of a WebSocket for each viewer. */
final class ViewServer implements AutoCloseable {

    /**
     * What pages begin with.
     *
     * @param volume the name of the volume
     * @param backend the name of a backend
     * @param budgetBytes the budget, less than the volume
     */
    record Beginning(String volume, String backend, long budgetBytes) {}

    private static final int MOST_VIEWERS = 16;
    private static final int MOST_REQUEST_BYTES = 4096;
    private static final Duration SAMPLE = Duration.ofMillis(5);
    private static final int SAMPLES = 50; // in a message

    /** What the kernel keeps for a viewer that does not read: a frame or two. */
    private static final int SEND_BUFFER = 1 << 17;

    /** Of connections; a viewer is one, and another one loads its page. */
    private static final Limits LIMITS =
            new Limits(64, Duration.ofSeconds(10), Duration.ofSeconds(60), Duration.ofSeconds(30));

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final String BEHIND_FRAMES = "faults-of-frames";
    private static final String VERSION = "13"; // of WebSocket

    /** The page takes nothing from elsewhere, and no page shows it in a frame. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:;"
            + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final Map<String, String> FILES = Map.of(
            "/", "view.html",
            "/view.js", "view.js",
            "/view.css", "view.css");

    /** A target may have all of its URL, as for a proxy. */
    private static final Pattern AUTHORITY = Pattern.compile("^http://[^/?]*");

    /** A file of the page. */
    private record Content(String type, ByteBuffer bytes) {

        static Content of(String name) {
            String type = name.endsWith(".html") ? "text/html" : name.endsWith(".js") ? "text/javascript" : "text/css";
            return new Content(type + "; charset=utf-8", ByteBuffer.wrap(resource(name)));
        }
    }

    private final Map<String, Content> contents =
            FILES.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, file -> Content.of(file.getValue())));
    private final FrameLoop loop;
    private final Origins origins;
    private final Beginning beginning;
    private final AtomicInteger viewers = new AtomicInteger();

    /** Closes channels that are added after it was closed. */
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final DisposableServer server;

    private ViewServer(InetSocketAddress address, FrameLoop loop, Origins origins, Beginning beginning, Limits limits) {
        this.loop = loop;
        this.origins = origins;
        this.beginning = beginning;
        this.server = ClientLimits.of(HttpServer.create(), limits)
                .bindAddress(() -> address)
                .childOption(ChannelOption.SO_SNDBUF, SEND_BUFFER)
                .doOnConnection(connection -> {
                    connections.add(connection.channel());
                    connection.addHandlerLast(new ClientFaults());
                })
                .handle(this::answer)
                .bindNow();
    }

    /**
     * Closes connections that clients have reset, sent no valid frame on, or closed within a message; Reactor Netty
     * would log each as an error. Behind each handler that decodes.
     */
    private static final class ClientFaults extends ChannelInboundHandlerAdapter {

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (cause instanceof IOException || cause instanceof CodecException) {
                Connection.from(context.channel()).dispose();
            } else {
                context.fireExceptionCaught(cause);
            }
        }
    }

    /**
     * Starts a server.
     *
     * @param address where to listen; port 0 for any free port
     * @param loop draws the frames; the caller closes it after the server
     * @param origins the pages that may open sockets
     * @param beginning what pages begin with
     * @throws IllegalStateException if it cannot listen there
     */
    static ViewServer start(InetSocketAddress address, FrameLoop loop, Origins origins, Beginning beginning) {
        return start(address, loop, origins, beginning, LIMITS);
    }

    /** Starts a server with other limits for its clients. */
    static ViewServer start(
            InetSocketAddress address, FrameLoop loop, Origins origins, Beginning beginning, Limits limits) {
        try {
            return new ViewServer(address, loop, origins, beginning, limits);
        } catch (ChannelBindException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            // Netty's own transports begin with the call and the code.
            String reason = String.valueOf(cause.getMessage()).replaceFirst("^.* failed with error\\(-?\\d+\\): ", "");
            throw new IllegalStateException(
                    "cannot listen on " + NetUtil.toSocketAddressString(address) + ": " + reason, e);
        }
    }

    private Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        String target = AUTHORITY.matcher(request.uri()).replaceFirst("");
        String path = target.substring(0, (target + '?').indexOf('?'));
        boolean get = request.method().equals(HttpMethod.GET);
        if (!path.startsWith("/")) { // also a query alone
            return empty(response, HttpResponseStatus.BAD_REQUEST);
        }
        if (!get && !request.method().equals(HttpMethod.HEAD)) {
            return empty(response, HttpResponseStatus.NOT_FOUND);
        }
        if (path.equals("/stream")) {
            return get ? stream(request, response) : upgradeRequired(response); // HEAD opens no socket
        }
        Content content = contents.get(path);
        if (content == null) {
            return empty(response, HttpResponseStatus.NOT_FOUND);
        }
        headers(response, content);
        return get ? response.sendObject(Unpooled.wrappedBuffer(content.bytes)) : response.send();
    }

    private static Publisher<Void> empty(HttpServerResponse response, HttpResponseStatus status) {
        return response.status(status)
                .header(HttpHeaderNames.CONTENT_LENGTH, "0")
                .send();
    }

    private static byte[] resource(String name) {
        try (InputStream from = ViewServer.class.getResourceAsStream(name)) {
            if (from == null) {
                throw new IllegalStateException(name + " is missing from this build");
            }
            return from.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(name + " cannot be read", e);
        }
    }

    private static void headers(HttpServerResponse response, Content content) {
        response.header(HttpHeaderNames.CONTENT_TYPE, content.type)
                .header(HttpHeaderNames.CACHE_CONTROL, "no-cache")
                .header("Content-Security-Policy", POLICY)
                .header("X-Content-Type-Options", "nosniff")
                .header("Referrer-Policy", "no-referrer")
                .header(HttpHeaderNames.CONTENT_LENGTH, String.valueOf(content.bytes.remaining()));
    }

    private static Publisher<Void> upgradeRequired(HttpServerResponse response) {
        return response.status(HttpResponseStatus.UPGRADE_REQUIRED)
                .header(HttpHeaderNames.SEC_WEBSOCKET_VERSION, VERSION)
                .header(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET)
                .header(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE)
                .header(HttpHeaderNames.CONTENT_LENGTH, "0")
                .send();
    }

    private Publisher<Void> stream(HttpServerRequest request, HttpServerResponse response) {
        if (!isHandshake(request.requestHeaders())) {
            return upgradeRequired(response);
        }
        if (!origins.allow(request.requestHeaders())) {
            return response.status(HttpResponseStatus.FORBIDDEN).send();
        }
        if (viewers.incrementAndGet() > MOST_VIEWERS) {
            viewers.decrementAndGet();
            return response.status(HttpResponseStatus.SERVICE_UNAVAILABLE).send();
        }
        Viewer viewer = new Viewer();
        request.withConnection(connection -> connection.channel().closeFuture().addListener(ended -> {
            viewers.decrementAndGet();
            loop.release(viewer);
        }));
        WebsocketServerSpec socket = WebsocketServerSpec.builder()
                .maxFramePayloadLength(MOST_REQUEST_BYTES)
                .handlePing(true) // as requests: Reactor Netty queues its own answers without limit
                .build();
        return response.sendWebsocket((in, out) -> messages(viewer, in, out), socket);
    }

    /**
     * Returns whether a request has what RFC 6455, 4.2.1, demands: Reactor Netty would fail, and close the connection.
     */
    private static boolean isHandshake(HttpHeaders headers) {
        return headers.contains(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true) // no list, as Netty demands
                && headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)
                && headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY)
                && headers.contains(HttpHeaderNames.SEC_WEBSOCKET_VERSION, VERSION, false);
    }

    /**
     * Sends the frames and statistics of a viewer: each message once the message before is written, so that nothing is
     * drawn for a socket that is full, and no request is read before the previous one is answered. Ends with the
     * connection and not before: when its inbound is cancelled, Reactor Netty closes a channel that may be closed
     * already.
     */
    private Publisher<Void> messages(Viewer viewer, WebsocketInbound in, WebsocketOutbound out) {
        WebsocketInbound whole = in.aggregateFrames(MOST_REQUEST_BYTES);
        whole.withConnection(connection -> connection.addHandlerLast(BEHIND_FRAMES, new ClientFaults()));
        Flux<List<WebSocketFrame>> frames = whole.receiveFrames()
                .map(frame -> answer(viewer, frame)) // here, since a frame is released behind its onNext
                .concatMap(answer -> answer, 1)
                .onErrorComplete();
        Flux<List<WebSocketFrame>> stats = Sampler.of(viewer, Flux.interval(SAMPLE), SAMPLES)
                .map(text -> List.<WebSocketFrame>of(new TextWebSocketFrame(text)))
                .takeUntilOther(viewer.left());
        return hello().concatWith(Flux.merge(1, frames, stats))
                .concatMap(message -> send(out, message), 1)
                .then();
    }

    private static Mono<Void> send(WebsocketOutbound out, List<WebSocketFrame> message) {
        return Flux.fromIterable(message)
                .concatMap(frame -> out.sendObject(frame).then(), 1)
                .then()
                .onErrorComplete();
    }

    private Flux<List<WebSocketFrame>> hello() {
        // Backends are looked for each time, which loads libraries: what was repaired meanwhile is found.
        return Mono.fromCallable(() -> Messages.hello(
                        beginning.volume,
                        loop.volume().header(),
                        Backends.list(),
                        beginning.backend,
                        beginning.budgetBytes))
                .subscribeOn(Schedulers.boundedElastic())
                .map(text -> List.<WebSocketFrame>of(new TextWebSocketFrame(text)))
                .flux();
    }

    private Mono<List<WebSocketFrame>> answer(Viewer viewer, WebSocketFrame frame) {
        if (frame instanceof PingWebSocketFrame) {
            return Mono.just(List.of(new PongWebSocketFrame(Unpooled.copiedBuffer(frame.content()))));
        }
        return answer(viewer, frame.content().toString(StandardCharsets.UTF_8));
    }

    private Mono<List<WebSocketFrame>> answer(Viewer viewer, String query) {
        NiftiHeader volume = loop.volume().header();
        long most = Math.max(volume.volumeBytes() - 1, Budget.needed(volume));
        return Mono.fromCallable(() -> FrameRequest.parse(query, most))
                .flatMap(request -> loop.draw(viewer, request))
                .map(frame -> List.<WebSocketFrame>of(
                        new TextWebSocketFrame(Messages.frame(frame)),
                        new BinaryWebSocketFrame(Unpooled.wrappedBuffer(frame.jpeg()))))
                .onErrorResume(e -> Mono.just(List.of(new TextWebSocketFrame(Messages.error(Complaint.of(e))))));
    }

    /** Returns the address that it listens on. */
    InetSocketAddress address() {
        return (InetSocketAddress) server.address();
    }

    /** Returns how many viewers are connected. */
    int viewers() {
        return viewers.get();
    }

    /** Stops accepting connections, and closes the existing ones. */
    @Override
    public void close() {
        server.disposeNow(PATIENCE);
        connections.close().awaitUninterruptibly(PATIENCE.toMillis());
        closed.complete(null);
    }

    /** Waits until {@link #close} is done. */
    void await() {
        closed.join();
    }
}
