// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import java.nio.file.Path;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Mono;

/** Reads with Mutiny, as in Quarkus: a Uni of a transfer and a Multi of a stream, whose cancel is the subscriber's. */
public final class ReadWithMutiny {

    private ReadWithMutiny() {}

    public static void main(String[] arguments) {
        try (Backend backend = Backends.open()) {
            Path path = Path.of(arguments[0]);
            System.out.println(read(backend, path).await().indefinitely());
            System.out.println(lengths(backend, path).collect().asList().await().indefinitely());
        }
    }

    /** Returns the bytes read. */
    static Uni<Long> read(Backend backend, Path path) {
        Mono<Completion> read = backend.withFile(
                path,
                FileOption.READ,
                file -> backend.withBuffer(
                        file.size(), buffer -> backend.submit(Transfer.read(file.all(), buffer.all()))));
        return Uni.createFrom()
                .publisher(JdkFlowAdapter.publisherToFlowPublisher(read))
                .map(Completion::bytes);
    }

    /** Emits the length of each chunk, under the demand of its subscriber. */
    static Multi<Long> lengths(Backend backend, Path path) {
        StreamPlan plan = StreamPlan.of(path).chunkBytes(1 << 20);
        return Multi.createFrom()
                .publisher(JdkFlowAdapter.publisherToFlowPublisher(
                        backend.stream(plan, chunk -> Mono.just(chunk.length()))));
    }
}
