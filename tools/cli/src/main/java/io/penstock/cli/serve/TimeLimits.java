// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FileRegion;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose client takes too long: for the headers of a request, from one request to the next, or to
 * take bytes of a response. First in the pipeline, so that it sees all bytes.
 *
 * <p>A client that takes a byte now and then would hold a connection for as long as it likes. So it must take a byte
 * for each millisecond, by and large: while bytes are pending, it is given credit for what it takes, and the time that
 * passes uses the credit up.
 */
final class TimeLimits extends IdleStateHandler {

    /** What the kernel may take at once for a client that then reads slowly. */
    private static final long MOST_CREDIT = 1 << 20;

    private final Limits limits;
    private final long due; // bytes, for each period of that length
    private @Nullable ChannelHandlerContext context;
    private @Nullable Future<?> deadline;
    private @Nullable Future<?> measuring;
    private @Nullable FileRegion region; // written last
    private long written;
    private long taken;
    private long credit;
    private boolean answering;
    private boolean idle; // no byte of the next request has come

    TimeLimits(Limits limits) {
        super(true, 0, limits.stalled().toNanos(), 0, TimeUnit.NANOSECONDS); // any byte that is read counts
        this.limits = limits;
        this.due = limits.stalled().toMillis();
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
        answering = true;
        credit = 2 * due; // since the first period may begin before the response
        ChannelHandlerContext of = context;
        if (of != null && measuring == null) {
            measure(of);
        }
    }

    private void measure(ChannelHandlerContext of) {
        measuring = of.executor().schedule(() -> measured(of), limits.stalled().toNanos(), TimeUnit.NANOSECONDS);
    }

    private void measured(ChannelHandlerContext of) {
        measuring = null;
        ChannelOutboundBuffer outbound = of.channel().unsafe().outboundBuffer();
        if (!answering || outbound == null) {
            return;
        }
        long pending = pending(outbound);
        long before = taken;
        taken = written - pending;
        credit = pending == 0 ? 2 * due : Math.min(MOST_CREDIT, credit + taken - before) - due;
        if (credit < 0) {
            close(of);
        } else {
            measure(of);
        }
    }

    /** Netty counts no byte of a region. There is one at a time: the next response waits for the end of this one. */
    private long pending(ChannelOutboundBuffer outbound) {
        long ofRegion = region == null ? 0 : region.count() - region.transferred();
        return outbound.totalPendingWriteBytes() + ofRegion;
    }

    @Override
    public void write(ChannelHandlerContext writing, Object message, ChannelPromise promise) throws Exception {
        if (message instanceof ByteBuf bytes) {
            written += bytes.readableBytes();
        } else if (message instanceof FileRegion next) {
            region = next;
            written += next.count();
        }
        super.write(writing, message, promise);
    }

    /** Called when the response is written and no other request is queued. */
    void responseEnded() {
        idle = true;
        answering = false;
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
        if (outbound != null && pending(outbound) > 0) {
            close(stalled);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) throws Exception {
        stop();
        answering = false;
        super.channelInactive(inactive);
    }
}
