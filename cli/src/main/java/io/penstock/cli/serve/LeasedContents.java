// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.buffer.ByteBuf;
import io.penstock.Backend;
import io.penstock.FileRegion;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import java.util.List;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * File regions, leased chunk by chunk to the socket: at most {@code depth} chunks per response exist, whether held by
 * the device or by Netty, and the next is read when the socket releases one.
 */
public final class LeasedContents implements Contents {

    private final Backend backend;
    private final OpenFiles files;
    private final long chunkBytes;
    private final int depth;

    /**
     * Reads through {@code backend}, which the caller owns.
     *
     * @param files open files of that backend
     */
    public LeasedContents(Backend backend, OpenFiles files, long chunkBytes, int depth) {
        this.backend = backend;
        this.files = files;
        this.chunkBytes = chunkBytes;
        this.depth = depth;
    }

    @Override
    public Mono<Void> use(FoundFile file, Function<Content, Mono<Void>> response) {
        return Mono.using(
                Held::new,
                held -> files.use(file, held).flatMap(use -> response.apply(body -> bytes(use.file(), body))),
                Held::close);
    }

    private Publisher<ByteBuf> bytes(StorageFile file, Body body) {
        return Flux.defer(() -> {
            Framing framing = new Framing(body);
            // A supplier, so that nothing is retained for a subscriber that never requests. The stream closes leases
            // that are discarded before they are emitted; Netty releases emitted ones.
            return backend.stream(plan(file, body), chunk -> Mono.fromSupplier(chunk::retain))
                    .map(framing::frame)
                    .concatWith(Mono.defer(framing::end));
        });
    }

    private StreamPlan plan(StorageFile file, Body body) {
        List<FileRegion> regions = body.parts().stream()
                .map(part -> file.region(part.offset(), part.length()))
                .toList();
        return StreamPlan.of(regions)
                .chunkBytes(chunkBytes)
                .depth(depth)
                .directDelivery(); // Netty hands buffers to its event loop
    }
}
