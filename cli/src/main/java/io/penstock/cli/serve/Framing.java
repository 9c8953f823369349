// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.penstock.HostLease;
import io.penstock.netty.NettyBuffers;
import java.io.EOFException;
import java.nio.charset.StandardCharsets;
import reactor.core.publisher.Mono;

/** Inserts the text of a body between the chunks of its parts, and checks that no byte is missing. Not thread-safe. */
final class Framing {

    private final Body body;
    private int part = -1;
    private long left; // of that part

    Framing(Body body) {
        this.body = body;
    }

    /** Takes over the lease of the next chunk, and returns it with the text before it. */
    ByteBuf frame(HostLease lease) {
        ByteBuf bytes = NettyBuffers.of(lease);
        String head = "";
        if (left == 0) {
            Body.Part next = body.parts().get(++part);
            left = next.length();
            head = next.head();
        }
        left -= bytes.readableBytes();
        if (head.isEmpty()) {
            return bytes;
        }
        CompositeByteBuf both = Unpooled.compositeBuffer(2);
        return both.addComponents(true, ascii(head), bytes);
    }

    /** Returns the text after the last chunk, or an error if chunks are missing. */
    Mono<ByteBuf> end() {
        if (left != 0 || part + 1 < body.parts().size()) {
            return Mono.error(new EOFException("the file ends before the end of the range in the response header"));
        }
        return body.end().isEmpty() ? Mono.empty() : Mono.just(ascii(body.end()));
    }

    private static ByteBuf ascii(String words) {
        return Unpooled.wrappedBuffer(words.getBytes(StandardCharsets.US_ASCII));
    }
}
