// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.util.concurrent.Future;
import reactor.netty.Connection;
import reactor.netty.ConnectionObserver;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/** {@link Limits} in the pipelines of a server. */
public final class ClientLimits {

    private ClientLimits() {}

    /**
     * Returns a server that has the limits. The limits of a request and its response end where a connection becomes a
     * WebSocket.
     */
    public static HttpServer of(HttpServer server, Limits limits) {
        return server
                // One connection at a time, so that ConnectionLimit can stop the next one.
                .option(ChannelOption.RECVBUF_ALLOCATOR, new ServerChannelRecvByteBufAllocator().maxMessagesPerRead(1))
                .doOnChannelInit((observer, channel, remote) -> guard(channel.pipeline(), limits))
                .childObserve(ClientLimits::observe)
                .doOnBound(bound -> bound.channel().pipeline().addFirst(new ConnectionLimit(limits.connections())));
    }

    private static void guard(ChannelPipeline pipeline, Limits limits) {
        TimeLimits times = new TimeLimits(limits);
        pipeline.addFirst(times);
        pipeline.addAfter(NettyPipeline.HttpCodec, null, new Requests(times));
    }

    private static void observe(Connection connection, ConnectionObserver.State state) {
        Requests requests = connection.channel().pipeline().get(Requests.class);
        if (state == ConnectionObserver.State.DISCONNECTING && requests != null) { // of a response, too
            requests.responseEnded();
        }
    }

    /**
     * Stops accepting while there are too many connections; further ones wait in the kernel's backlog. In the pipeline of
     * the listening channel.
     */
    private static final class ConnectionLimit extends ChannelInboundHandlerAdapter {

        private final int most;
        private int connections; // used by the event loop of the listening channel

        ConnectionLimit(int most) {
            this.most = most;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            connections++;
            if (connections >= most) {
                context.channel().config().setAutoRead(false);
            }
            ((Channel) message)
                    .closeFuture()
                    .addListener(
                            (Future<? super Void> closed) -> context.executor().execute(() -> leave(context)));
            context.fireChannelRead(message);
        }

        private void leave(ChannelHandlerContext context) {
            connections--;
            if (connections < most && context.channel().isActive()) {
                context.channel().config().setAutoRead(true); // which reads, if it was false
            }
        }
    }
}
