// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import io.penstock.netty.http.FileParts;
import java.util.Optional;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** How files are read: {@link LeasedContents}, or its baselines in benchmarks. */
public interface Contents {

    /** Opens a file until the publisher that {@code response} returns terminates. */
    Mono<Void> use(FoundFile file, Function<Content, Mono<Void>> response);

    /** The bytes of one open file. */
    @FunctionalInterface
    interface Content {

        /** Reads a body, under back-pressure; fails if the file has become too short for it. */
        Publisher<ByteBuf> bytes(FileParts body);

        /** Returns a body that the kernel sends from its page cache, which the caller releases; empty to read it. */
        default Optional<FileRegion> cached(FileParts body) {
            return Optional.empty();
        }
    }
}
