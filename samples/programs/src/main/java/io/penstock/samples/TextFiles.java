// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Pack;
import io.penstock.WritePlan;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Everyday work with files: finds lines of a text, copies many files at a time, and appends to a log. */
public final class TextFiles {

    private TextFiles() {}

    /** Arguments: a text, a word, a folder, and files to copy there. */
    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[2]);
        List<Path> files = Stream.of(arguments).skip(3).map(Path::of).toList();
        try (Backend backend = Backends.open("host")) {
            find(backend, Path.of(arguments[0]), arguments[1])
                    .doOnNext(System.out::println)
                    .thenMany(copy(backend, files, folder))
                    .concatMap(copy -> append(backend, folder.resolve("copied.log"), copy.toString()))
                    .blockLast();
        }
    }

    /** Emits the lines that contain a word. */
    static Flux<String> find(Backend backend, Path text, String word) {
        return backend.lines(text).filter(line -> line.contains(word));
    }

    /** Appends a line to a file, which is created if it does not exist. Emits the bytes of the line. */
    static Mono<Long> append(Backend backend, Path log, String line) {
        return backend.write(WritePlan.append(log), Flux.just(UTF_8.encode(line + "\n")));
    }

    /** Copies small files into a folder, durably. Emits the path of each copy. */
    static Flux<Path> copy(Backend backend, List<Path> files, Path folder) {
        Flux<Pack> packs = backend.pack(Flux.fromIterable(files)) // many files in one buffer, with an index
                .map(pack -> pack.at(file -> folder.resolve(file.getFileName())));
        return backend.unpack(packs, Pack.Writing.DEFAULT.replacing().sync())
                .concatMap(copy -> copy.error() == null ? Mono.just(copy.path()) : Mono.error(copy.error()));
    }
}
