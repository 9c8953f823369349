// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultFileRegion;
import io.penstock.Backend;
import io.penstock.FileRegion;
import io.penstock.HostLease;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.netty.NettyBuffers;
import io.penstock.netty.http.FileParts;
import java.io.EOFException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * File regions, leased chunk by chunk to the socket: at most {@code depth} chunks per response exist, whether held by
 * the device or by Netty, and the next is read when the socket releases one. What is in the page cache the kernel sends
 * by itself: the event loop, which makes that call, would wait for a disk.
 */
public final class LeasedContents implements Contents {

    private final Backend backend;
    private final OpenFiles files;
    private final long chunkBytes;
    private final int depth;
    private final boolean sendfile;

    /**
     * Reads through {@code backend}, which the caller owns.
     *
     * @param files open files of that backend
     * @param sendfile whether the kernel sends what is in its page cache
     */
    public LeasedContents(Backend backend, OpenFiles files, long chunkBytes, int depth, boolean sendfile) {
        this.backend = backend;
        this.files = files;
        this.chunkBytes = chunkBytes;
        this.depth = depth;
        this.sendfile = sendfile;
    }

    @Override
    public Mono<Void> use(FoundFile file, Function<Content, Mono<Void>> response) {
        return Mono.using(
                Held::new,
                held -> files.use(file, held).flatMap(use -> response.apply(content(use.file()))),
                Held::close);
    }

    private Content content(StorageFile file) {
        return new Content() {
            @Override
            public Publisher<ByteBuf> bytes(FileParts body) {
                return LeasedContents.this.bytes(file, body);
            }

            @Override
            public Optional<io.netty.channel.FileRegion> cached(FileParts body) {
                FileParts.Part part = body.parts().get(0);
                return sendfile && body.parts().size() == 1
                        ? file.cachedChannel(part.offset(), part.length())
                                .map(channel -> new DefaultFileRegion(channel, part.offset(), part.length()))
                        : Optional.empty();
            }
        };
    }

    private Publisher<ByteBuf> bytes(StorageFile file, FileParts body) {
        return Flux.defer(() -> {
            Framing framing = new Framing(body);
            // A supplier, so that nothing is retained for a subscriber that never requests. The stream closes leases
            // that are discarded before they are emitted; Netty releases emitted ones.
            return backend.stream(plan(file, body), chunk -> Mono.fromSupplier(chunk::retain))
                    .map(framing::frame)
                    .concatWith(Mono.defer(framing::end));
        });
    }

    private StreamPlan plan(StorageFile file, FileParts body) {
        List<FileRegion> regions = body.parts().stream()
                .map(part -> file.region(part.offset(), part.length()))
                .toList();
        return StreamPlan.of(regions)
                .chunkBytes(chunkBytes)
                .depth(depth)
                .directDelivery(); // Netty hands buffers to its event loop
    }

    /** Inserts the text of a body between the chunks of its parts, and checks that no byte is missing. Not thread-safe. */
    private static final class Framing {

        private final FileParts body;
        private int part = -1;
        private long left; // of that part

        Framing(FileParts body) {
            this.body = body;
        }

        /** Takes over the lease of the next chunk, and returns it with the text before it. */
        ByteBuf frame(HostLease lease) {
            ByteBuf bytes = NettyBuffers.of(lease);
            String head = "";
            if (left == 0) {
                FileParts.Part next = body.parts().get(++part);
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
}
