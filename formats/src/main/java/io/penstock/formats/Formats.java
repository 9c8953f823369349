// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.file.BlockingCall;
import io.penstock.formats.read.FormatReader;
import io.penstock.formats.read.HeaderBytes;
import io.penstock.formats.read.Headers;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Finds out the format of a file, and reads its metadata. */
public final class Formats {

    private Formats() {}

    /**
     * Reads the metadata of a file of any known format, recognized by its first bytes, or its name where the format has
     * no magic number.
     *
     * <p><b>Threading:</b> reads on {@link Schedulers#boundedElastic()}; the result comes on one of its threads. A long
     * header of safetensors is parsed by {@link ForkJoinPool#commonPool()} too.
     *
     * <p><b>Errors:</b> {@link MalformedFileException} if the file is of no known format or not valid;
     * {@link java.nio.file.NoSuchFileException} and other {@link IOException}s of reading;
     * {@link IllegalStateException} if there is not enough memory for the metadata.
     *
     * @param permitted what the reader permits though the format forbids it
     */
    public static Mono<ArrayFile> read(Path path, FormatOption... permitted) {
        return readAll(List.of(path), permitted).map(files -> files.get(0));
    }

    /** Reads the metadata of files, some of them ahead; emits them in their order. */
    static Mono<List<ArrayFile>> readAll(List<Path> paths, FormatOption... permitted) {
        Set<FormatOption> options = Set.of(permitted);
        return BlockingCall.of(() -> Headers.read(paths.stream()
                .<Callable<ArrayFile>>map(path -> () -> read(path, () -> readNow(path, options)))
                .toList()));
    }

    static ArrayFile read(Path path, Callable<ArrayFile> reader) throws Exception {
        try {
            return reader.call();
        } catch (OutOfMemoryError e) { // does not name the file
            throw new IllegalStateException(
                    "there is not enough memory to read the metadata of " + path + ": " + e.getMessage(), e);
        }
    }

    private static ArrayFile readNow(Path path, Set<FormatOption> permitted) throws IOException {
        try {
            return FormatReader.of(path).read(path, permitted);
        } catch (FileSystemException | ClosedChannelException e) {
            throw e; // names the file; or a cancel
        } catch (IOException e) { // the JDK reports an error of read(2) in words alone
            FileSystemException named = new FileSystemException(path.toString(), null, e.getMessage());
            named.initCause(e);
            throw named;
        }
    }

    /**
     * Describes a file without metadata: one array of little-endian elements in row-major order, named as the file.
     *
     * <p><b>Errors:</b> {@link IllegalArgumentException} at once if shape and type are no size; {@link
     * MalformedFileException} if the file ends before the array; {@link IOException} of the file.
     *
     * @param offset where the array starts, in bytes
     * @throws IndexOutOfBoundsException if {@code offset} is negative
     */
    public static Mono<ArrayFile> raw(Path path, long offset, ElementType type, List<Long> shape) {
        if (offset < 0) {
            throw new IndexOutOfBoundsException("offset must be at least 0, was " + offset);
        }
        Array array = new Array(
                String.valueOf(path.getFileName()),
                type,
                shape,
                ByteOrder.LITTLE_ENDIAN,
                Array.Order.ROW_MAJOR,
                new Extent(path, offset, Array.bytes(type, shape)));
        return BlockingCall.of(() -> {
            try (HeaderBytes bytes = new HeaderBytes(path, "raw")) {
                bytes.seek(offset, "the array");
                bytes.skip(array.bytes(), "the array");
            }
            return new ArrayFile(path, "raw", Map.of(), List.of(array));
        });
    }

    /**
     * Reads the metadata as {@link #read} does, and emits the arrays in the order of the file, without {@linkplain
     * ArrayFile#unsupported what is not supported}. A damaged array is an error.
     */
    public static Flux<Array> arrays(Path path) {
        return read(path).map(ArrayFile::whole).flatMapIterable(ArrayFile::arrays);
    }
}
