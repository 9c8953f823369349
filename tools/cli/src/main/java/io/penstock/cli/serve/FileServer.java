// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.ChannelBindException;
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
     * @param names the names by which clients reach it, beside the address; none for the names of {@link Hosts}
     * @param limits the limits for clients
     * @throws IllegalStateException if it cannot listen there
     * @throws IllegalArgumentException if a name can be none of a host
     */
    public static FileServer start(
            InetSocketAddress address,
            List<String> names,
            ServedDirectory directory,
            Contents contents,
            Limits limits) {
        Hosts hosts = new Hosts(address, names);
        ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        HttpServer http = ClientLimits.of(HttpServer.create(), limits)
                .bindAddress(() -> address)
                // Not Netty's epoll transport, which removes a socket without interests from its epoll set, but does
                // not add it again (4.2.19): the response to a client that has closed its side would end where the
                // socket is full.
                .runOn(HttpResources.get(), false)
                .channelGroup(connections) // disposeNow() then waits for requests
                .childOption(
                        ChannelOption.ALLOW_HALF_CLOSURE, true) // Requests closes it once all requests are answered
                .doOnChannelInit((observer, channel, remote) ->
                        channel.pipeline().addBefore(NettyPipeline.HttpCodec, null, new FoldedLines()))
                .handle(new FileHandler(hosts, directory, contents));
        try {
            return new FileServer(http.bindNow(), connections);
        } catch (ChannelBindException e) {
            throw new IllegalStateException(
                    "cannot listen on " + NetUtil.toSocketAddressString(address) + ": " + cause(e), e);
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

    /**
     * Makes header lines that begin with a blank invalid, so that the codec refuses them (RFC 9112, 5.2 and 2.2) instead of
     * appending them to the line before. Bodies need no special care, since a request with a body is the last of its
     * connection.
     */
    private static final class FoldedLines extends ChannelInboundHandlerAdapter {

        private static final byte NO_HEADER = 0;

        private boolean inHeaders; // the first line of a request has begun
        private boolean atLineStart = true;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            for (int i = bytes.readerIndex(); i < bytes.writerIndex(); i++) {
                byte b = bytes.getByte(i);
                if (b == '\n') {
                    inHeaders &= !atLineStart; // an empty line ends them
                    atLineStart = true;
                } else if (b != '\r') {
                    if (atLineStart && inHeaders && (b == ' ' || b == '\t')) {
                        bytes.setByte(i, NO_HEADER);
                    }
                    inHeaders = true;
                    atLineStart = false;
                }
            }
            context.fireChannelRead(message);
        }
    }
}
