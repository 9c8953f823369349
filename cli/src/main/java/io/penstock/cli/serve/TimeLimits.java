// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose client takes too long: for the headers of a request, from one request to the next, or to
 * take bytes of a response. First in the pipeline, so that it sees all bytes.
 */
final class TimeLimits extends IdleStateHandler {

    private final Limits limits;
    private @Nullable ChannelHandlerContext context;
    private @Nullable Future<?> deadline;
    private boolean idle; // no byte of the next request has come

    TimeLimits(Limits limits) {
        super(true, 0, limits.stalled().toNanos(), 0, TimeUnit.NANOSECONDS); // any byte that is read counts
        this.limits = limits;
    }

    @Override
    public void channelActive(ChannelHandlerContext active) throws Exception {
        begin(active);
        super.channelActive(active);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) throws Exception {
        if (added.channel().isActive()) {
            begin(added);
        }
        super.handlerAdded(added);
    }

    private void begin(ChannelHandlerContext begun) {
        if (context == null) {
            context = begun;
            allow(limits.headers());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext reading, Object message) throws Exception {
        if (idle) {
            idle = false;
            allow(limits.headers());
        }
        super.channelRead(reading, message);
    }

    /** Called when the headers are complete: the client's time stops. */
    void requestBegins() {
        idle = false;
        stop();
    }

    /** Called when the response is written and no other request is queued. */
    void responseEnded() {
        idle = true;
        allow(limits.idle());
    }

    private void allow(Duration time) {
        stop();
        ChannelHandlerContext of = context;
        if (of != null && of.channel().isActive()) {
            deadline = of.executor().schedule(() -> close(of), time.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private static void close(ChannelHandlerContext of) {
        var unused = of.close();
    }

    private void stop() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    @Override
    protected void channelIdle(ChannelHandlerContext stalled, IdleStateEvent event) {
        // The first event after a completed write is fired whether or not bytes were sent meanwhile.
        ChannelOutboundBuffer outbound =
                event.isFirst() ? null : stalled.channel().unsafe().outboundBuffer();
        if (outbound != null && outbound.totalPendingWriteBytes() > 0) {
            close(stalled);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) throws Exception {
        stop();
        super.channelInactive(inactive);
    }
}
