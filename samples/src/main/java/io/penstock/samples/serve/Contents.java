// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.serve;

import io.netty.buffer.ByteBuf;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** How files are read: {@link LeasedContents}, or what it is measured against. */
public interface Contents {

    /** Opens a file; whoever gets the content closes it. */
    Mono<Content> open(FoundFile file);

    /** The bytes of one open file. */
    interface Content extends AutoCloseable {

        /** Reads a body, under back-pressure; fails if the file has become too short for it. */
        Publisher<ByteBuf> bytes(Body body);

        @Override
        void close();
    }
}
