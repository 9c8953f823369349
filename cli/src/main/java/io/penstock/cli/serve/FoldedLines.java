// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Makes header lines that begin with a blank invalid, so that the codec refuses them (RFC 9112, 5.2 and 2.2) instead of
 * appending them to the line before. Bodies need no special care, since a request with a body is the last of its
 * connection.
 */
final class FoldedLines extends ChannelInboundHandlerAdapter {

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
