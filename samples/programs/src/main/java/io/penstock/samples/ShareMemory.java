// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.io.EOFException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** CUDA: one process reads a file into memory of the GPU, and others on that GPU use this memory, without a copy. */
public final class ShareMemory {

    private ShareMemory() {}

    /** Argument: the file, to export it until a line is entered; in another process the URI that is printed then. */
    public static void main(String[] arguments) {
        try (Backend gpu = Backends.open("cufile")) {
            if (arguments[0].startsWith("cuda-ipc:")) {
                System.out.println(use(gpu, URI.create(arguments[0]))
                        .map(HexFormat.of()::formatHex)
                        .block());
            } else {
                Mono<?> line = Mono.fromCallable(System.in::read).subscribeOn(Schedulers.boundedElastic());
                export(gpu, Path.of(arguments[0]), System.out::println, line).block();
            }
        }
    }

    /** Publishes the URI when the bytes are there. Completes after {@code end}, when all others have closed the memory. */
    static Mono<Void> export(Backend gpu, Path path, Consumer<URI> publish, Mono<?> end) {
        return gpu.withFile(
                path,
                FileOption.READ,
                file -> gpu.withBuffer(
                        file.size(),
                        buffer -> gpu.submit(Transfer.read(file.all(), buffer.all()))
                                .filter(read -> read.bytes() == buffer.length())
                                .switchIfEmpty(Mono.error(() -> new EOFException(path + " became shorter")))
                                .then(Backend.using(Mono.fromSupplier(buffer::exportPeer), memory -> {
                                    publish.accept(memory.uri());
                                    return end.then(Mono.fromRunnable(memory::close))
                                            .then(memory.released());
                                }))));
    }

    /** Emits the first bytes; empty if the exporter revokes the memory before. A kernel takes its nativeHandle(). */
    static Mono<byte[]> use(Backend gpu, URI uri) {
        return Backend.using(gpu.openBuffer(uri), memory -> {
            byte[] first = new byte[(int) Math.min(16, memory.length())];
            return memory.download(0, ByteBuffer.wrap(first)).thenReturn(first).takeUntilOther(memory.revoked());
        });
    }
}
