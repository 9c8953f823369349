// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ResponseStatusException;
import reactor.netty.DisposableChannel;
import reactor.netty.http.server.HttpServerResponse;

/** Which uploads become a file: whole ones, in no coding that would be stored with them. */
final class UploadRules {

    private static final boolean REACTOR_NETTY =
            ClassUtils.isPresent("reactor.netty.http.server.HttpServerResponse", UploadRules.class.getClassLoader());

    private UploadRules() {}

    /** Returns why a request with these headers is refused; null if it is not. */
    static @Nullable ResponseStatusException refusal(HttpHeaders headers) {
        if (headers.getFirst(HttpHeaders.CONTENT_RANGE) != null) { // RFC 9110, 14.5
            return new ResponseStatusException(HttpStatus.BAD_REQUEST, "Content-Range is not supported");
        }
        String transfer = codings(headers, HttpHeaders.TRANSFER_ENCODING);
        if (!transfer.isEmpty() && !transfer.equalsIgnoreCase("chunked")) { // RFC 9112, 6.1
            return new ResponseStatusException(
                    HttpStatus.NOT_IMPLEMENTED, "Transfer-Encoding must be chunked, was " + transfer);
        }
        String content = codings(headers, HttpHeaders.CONTENT_ENCODING);
        if (!content.isEmpty() && !content.equalsIgnoreCase("identity")) { // RFC 9110, 8.4
            return new ResponseStatusException(
                    HttpStatus.UNSUPPORTED_MEDIA_TYPE, "Content-Encoding is not supported, was " + content);
        }
        return null;
    }

    private static String codings(HttpHeaders headers, String name) {
        return String.join(", ", headers.getValuesAsList(name));
    }

    /**
     * Throws if a body without a length did not end with its last chunk. Other servers fail such a body. Reactor Netty
     * completes it when it has answered the request, or has closed the connection, by itself: before the last chunk,
     * since nothing is answered before the file has its name.
     */
    static void checkEnd(ServerHttpRequest request) throws IOException {
        if (REACTOR_NETTY && ReactorNetty.isOver(request)) {
            throw new IOException("the body ended before its last chunk");
        }
    }

    /** Separate, so that it is loaded only where Reactor Netty is present. */
    private static final class ReactorNetty {

        private ReactorNetty() {}

        static boolean isOver(ServerHttpRequest request) {
            Object exchange;
            try {
                exchange = ServerHttpRequestDecorator.getNativeRequest(request);
            } catch (IllegalArgumentException | IllegalStateException none) { // a mock
                return false;
            }
            return exchange instanceof HttpServerResponse response && response.hasSentHeaders()
                    || exchange instanceof DisposableChannel connection && connection.isDisposed();
        }
    }
}
