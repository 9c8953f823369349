// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.ChannelBindException;
import reactor.netty.Connection;
import reactor.netty.ConnectionObserver;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.HttpResources;
import reactor.netty.http.server.HttpServer;

/** An HTTP/1.1 server of one directory. */
public final class FileServer implements AutoCloseable {

    /** How long {@link #close} waits for responses in flight. */
    public static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(FileServer.class);

    private final DisposableServer server;
    private final ChannelGroup connections;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private FileServer(DisposableServer server, ChannelGroup connections) {
        this.server = server;
        this.connections = connections;
    }

    /**
     * Starts a server.
     *
     * @param address where to listen; port 0 for any free port
     * @param limits the limits for clients
     * @throws IllegalStateException if it cannot listen there
     */
    public static FileServer start(
            InetSocketAddress address, ServedDirectory directory, Contents contents, Limits limits) {
        ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        HttpServer http = HttpServer.create()
                .bindAddress(() -> address)
                // Not Netty's epoll transport, which removes a socket without interests from its epoll set, but does
                // not add it again (4.2.19): the response to a client that has closed its side would end where the
                // socket is full.
                .runOn(HttpResources.get(), false)
                // One connection at a time, so that ConnectionLimit can stop the next one.
                .option(ChannelOption.RECVBUF_ALLOCATOR, new ServerChannelRecvByteBufAllocator().maxMessagesPerRead(1))
                .channelGroup(connections) // disposeNow() then waits for requests
                .childOption(
                        ChannelOption.ALLOW_HALF_CLOSURE, true) // Requests closes it once all requests are answered
                .doOnChannelInit((observer, channel, remote) -> guard(channel.pipeline(), limits))
                .childObserve(FileServer::observe)
                .doOnBound(bound -> bound.channel().pipeline().addFirst(new ConnectionLimit(limits.connections())))
                .handle(new FileHandler(directory, contents));
        try {
            return new FileServer(http.bindNow(), connections);
        } catch (ChannelBindException e) {
            throw new IllegalStateException(
                    "cannot listen on " + NetUtil.toSocketAddressString(address) + ": " + cause(e), e);
        }
    }

    private static void guard(ChannelPipeline pipeline, Limits limits) {
        TimeLimits times = new TimeLimits(limits);
        pipeline.addFirst(times);
        pipeline.addBefore(NettyPipeline.HttpCodec, null, new FoldedLines());
        pipeline.addAfter(NettyPipeline.HttpCodec, null, new Requests(times));
    }

    private static void observe(Connection connection, ConnectionObserver.State state) {
        Requests requests = connection.channel().pipeline().get(Requests.class);
        if (state == ConnectionObserver.State.DISCONNECTING && requests != null) { // of a response, too
            requests.responseEnded();
        }
    }

    private static String cause(Throwable e) {
        return String.valueOf((e.getCause() == null ? e : e.getCause()).getMessage());
    }

    /** Returns the address that it listens on. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.address();
    }

    /** Stops accepting connections, waits for responses, for at most {@link #PATIENCE}, and aborts the rest. */
    @Override
    public void close() {
        try {
            server.disposeNow(PATIENCE);
        } catch (IllegalStateException tooLate) {
            LOG.warn("responses that have not ended after {} are aborted", PATIENCE);
            connections.close().awaitUninterruptibly();
        } finally {
            closed.complete(null);
        }
    }

    /** Waits until {@link #close} is done. */
    public void await() {
        closed.join();
    }
}
