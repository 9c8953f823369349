// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;

/**
 * Stops accepting while there are too many connections; further ones wait in the kernel's backlog. In the pipeline of
 * the listening channel.
 */
final class ConnectionLimit extends ChannelInboundHandlerAdapter {

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
                .addListener((Future<? super Void> closed) -> context.executor().execute(() -> leave(context)));
        context.fireChannelRead(message);
    }

    private void leave(ChannelHandlerContext context) {
        connections--;
        if (connections < most && context.channel().isActive()) {
            context.channel().config().setAutoRead(true); // which reads, if it was false
        }
    }
}
