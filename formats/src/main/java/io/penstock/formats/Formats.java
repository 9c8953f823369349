// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Finds out the format of a file, and reads its metadata. */
public final class Formats {

    private Formats() {}

    /**
     * Reads the metadata of a file of any known format, recognized by its first bytes, or its name where the format
     * has no magic number.
     *
     * <p><b>Threading:</b> reads on {@link Schedulers#boundedElastic()}; the result comes on one of its threads.
     *
     * <p><b>Errors:</b> {@link MalformedFileException} if the file is of no known format or not valid;
     * {@link java.nio.file.NoSuchFileException} and other {@link java.io.IOException}s of reading.
     */
    public static Mono<ArrayFile> read(Path path) {
        return Mono.fromCallable(() -> FormatReader.of(path).read(path)).subscribeOn(Schedulers.boundedElastic());
    }

    /** Reads the metadata as {@link #read} does, and emits the arrays in the order of the file. */
    public static Flux<Array> arrays(Path path) {
        return read(path).flatMapIterable(ArrayFile::arrays);
    }
}
