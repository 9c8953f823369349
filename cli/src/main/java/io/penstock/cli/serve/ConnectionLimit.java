// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;

/**
 * Stops accepting while there are too many connections; those that wait are in the hands of the kernel. In the pipeline
 * of the channel that listens.
 */
final class ConnectionLimit extends ChannelInboundHandlerAdapter {

    private final int most;
    private int connections; // of the event loop of the channel that listens

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
