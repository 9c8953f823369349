// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.SharedRead;
import io.penstock.Transfer;
import java.nio.file.Path;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Fills two GPUs with the same file: each byte is read once, and copied from one GPU to the other. */
public final class FillGpus {

    private FillGpus() {}

    /** Argument: the file. */
    public static void main(String[] arguments) {
        try (Backend first = open(0);
                Backend second = open(1)) {
            fill(Path.of(arguments[0]), first, second)
                    .doOnNext(System.out::println)
                    .blockLast();
        }
    }

    private static Backend open(int gpu) {
        return Backends.open("cufile", Options.none().with("penstock.cufile.device", Integer.toString(gpu)));
    }

    /** Emits one completion per backend, when the buffers of all have the file. */
    static Flux<Completion> fill(Path path, Backend... backends) {
        SharedRead shared = new SharedRead();
        return Flux.fromArray(backends).flatMap(backend -> join(shared, backend, path), backends.length);
    }

    private static Mono<Completion> join(SharedRead shared, Backend backend, Path path) {
        return backend.withFile(
                path,
                FileOption.READ,
                file -> backend.withBuffer(
                        file.size(), buffer -> shared.join(backend, Transfer.read(file.all(), buffer.all()))));
    }
}
