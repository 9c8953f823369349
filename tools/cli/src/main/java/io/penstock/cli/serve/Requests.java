// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Forwards one request at a time, the next once the response to the previous one is written, and closes a connection
 * whose client has closed its side once all are answered. Reactor Netty by itself drops the requests behind the first
 * of several if the last has {@code Connection: close}. Behind the codec.
 */
final class Requests extends ChannelDuplexHandler {

    private final TimeLimits limits;
    private volatile @Nullable ChannelHandlerContext context;
    private final Queue<Object> waiting = new ArrayDeque<>();
    private boolean answering;
    private boolean readRequested;
    private boolean inputEnded;

    Requests(TimeLimits limits) {
        this.limits = limits;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (waiting.isEmpty() && mayPass(message)) {
            pass(context, message);
        } else {
            waiting.add(message);
        }
    }

    private boolean mayPass(Object message) {
        return !answering || !(message instanceof HttpRequest);
    }

    private void pass(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpRequest) {
            answering = true;
            limits.requestBegins();
        }
        context.fireChannelRead(message);
    }

    /** Queued requests come first: otherwise a client could queue any number of requests. */
    @Override
    public void read(ChannelHandlerContext context) {
        if (!waiting.isEmpty()) {
            readRequested = true;
        } else if (!inputEnded) { // nothing is left to read
            context.read();
        }
    }

    /** Called when the response is written and its writers are done; any thread. */
    void responseEnded() {
        ChannelHandlerContext of = context;
        if (of != null) {
            of.executor().execute(() -> next(of));
        }
    }

    private void next(ChannelHandlerContext context) {
        answering = false;
        while (!waiting.isEmpty() && mayPass(waiting.element())) {
            pass(context, waiting.remove());
        }
        if (!answering) {
            limits.responseEnded();
            closeIfDone(context);
        }
        if (waiting.isEmpty() && readRequested) {
            readRequested = false;
            read(context);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputEnded = true;
            closeIfDone(context);
        }
        context.fireUserEventTriggered(event);
    }

    private void closeIfDone(ChannelHandlerContext context) {
        if (inputEnded && !answering && waiting.isEmpty()) {
            var unused = context.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        discard();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        discard();
    }

    private void discard() {
        waiting.forEach(ReferenceCountUtil::release);
        waiting.clear();
    }
}
