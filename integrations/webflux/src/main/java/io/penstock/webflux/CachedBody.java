// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.netty.channel.ChannelPipeline;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.penstock.StorageFile;
import io.penstock.netty.http.FileParts;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.http.ZeroCopyHttpOutputMessage;
import org.springframework.http.server.reactive.AbstractServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServerResponse;

/**
 * A body that the kernel sends from its page cache to the socket by itself (sendfile). Only from there: the event loop,
 * which makes the call, would wait for the disk, and with it all connections of the loop. A class of its own, since
 * Reactor Netty is optional.
 */
final class CachedBody {

    private CachedBody() {}

    /**
     * Returns what sends the body; empty if it must be read: parts of it are on disk only, there are several parts, the
     * connection is encrypted, compressed or HTTP/2, or a filter has wrapped the response.
     *
     * @param response has its status and headers
     */
    static Optional<Mono<Void>> of(FileParts parts, StorageFile open, ServerHttpResponse response) {
        if (!(response instanceof ZeroCopyHttpOutputMessage)
                || !(response instanceof AbstractServerHttpResponse server)
                || !(server.getNativeResponse() instanceof HttpServerResponse netty)
                || parts.parts().size() != 1
                || !isPlain(netty)) {
            return Optional.empty();
        }
        FileParts.Part part = parts.parts().get(0);
        return open.cachedChannel(part.offset(), part.length())
                .map(channel -> new DefaultFileRegion(channel, part.offset(), part.length()))
                .map(region -> send(region, response, netty));
    }

    private static boolean isPlain(HttpServerResponse netty) {
        AtomicBoolean plain = new AtomicBoolean();
        netty.withConnection(connection -> {
            ChannelPipeline pipeline = connection.channel().pipeline();
            plain.set(connection.channel() instanceof SocketChannel // not a stream of HTTP/2
                    && pipeline.get(SslHandler.class) == null
                    && pipeline.get(NettyPipeline.CompressionHandler) == null);
        });
        return plain.get();
    }

    /** The region belongs to Netty once it is written, and to this before; its release closes the channel. */
    private static Mono<Void> send(DefaultFileRegion region, ServerHttpResponse response, HttpServerResponse netty) {
        AtomicBoolean taken = new AtomicBoolean();
        return response.setComplete() // commits Spring's part of the response, and sends nothing
                .then(Mono.defer(() -> taken.compareAndSet(false, true)
                        ? netty.sendObject(region).then()
                        : Mono.empty()))
                .doFinally(signal -> {
                    if (taken.compareAndSet(false, true)) {
                        region.release();
                    }
                });
    }
}
