// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.WritePlan;
import java.nio.file.Files;
import java.nio.file.Path;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Everyday work with files: finds lines of a text, appends a line, and copies a folder, many files at a time. */
public final class TextFiles {

    private static final int AT_A_TIME = 32;

    private TextFiles() {}

    /** Arguments: a text, a word, a folder, and an existing folder to which its files are copied. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host")) {
            Path to = Path.of(arguments[3]);
            find(backend, Path.of(arguments[0]), arguments[1])
                    .doOnNext(System.out::println)
                    .thenMany(copy(backend, Path.of(arguments[2]), to))
                    .concatMap(file -> append(backend, to.resolve("copied.txt"), file.toString()))
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

    /** Copies the files of a folder. Emits the path of each copy. */
    static Flux<Path> copy(Backend backend, Path from, Path to) {
        return Flux.using(() -> Files.newDirectoryStream(from), Flux::fromIterable)
                .filter(Files::isRegularFile)
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(
                        file -> {
                            Path copy = to.resolve(file.getFileName());
                            return backend.write(copy, backend.read(file)).thenReturn(copy);
                        },
                        AT_A_TIME);
    }
}
