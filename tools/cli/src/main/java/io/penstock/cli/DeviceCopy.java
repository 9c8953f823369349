// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Explanation;
import io.penstock.FileOption;
import io.penstock.FileRegion;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.file.FirstError;
import io.penstock.file.LateErrors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;

/** Copies a file through a few buffers of device memory: each is filled, written out, and filled again. */
final class DeviceCopy {

    private static final int BUFFERS = 4;

    /** Receives the number of bytes that have arrived, and the paths so far. */
    interface Listener {
        void copied(long done, long total, String paths);
    }

    /**
     * The result of a copy.
     *
     * @param bytes the length of the copy
     * @param moved the bytes that were read and written, without holes
     * @param nanos the time from the first read until everything was durable
     * @param paths the paths that reads and writes took
     */
    record Result(long bytes, long moved, long nanos, String paths) {}

    private final Backend backend;
    private final long chunkBytes;
    private final @Nullable TransferPath demanded;
    private final FileOption[] write;
    private final Set<TransferPath> readPaths = new ConcurrentSkipListSet<>();
    private final Set<TransferPath> writePaths = new ConcurrentSkipListSet<>();
    private final AtomicLong done = new AtomicLong();

    /**
     * Creates a copy.
     *
     * @param write how the target is opened
     */
    DeviceCopy(Backend backend, long chunkBytes, @Nullable TransferPath demanded, FileOption... write) {
        this.write = write;
        this.backend = backend;
        this.chunkBytes = chunkBytes;
        this.demanded = demanded;
    }

    /**
     * Copies the bytes of {@code source} that are not in holes to {@code target}, an empty file, or a URL.
     *
     * @param extents the data of {@code source}; a file without a length is read to its end
     */
    Result run(Path source, DataExtents extents, Path target, Listener listener) throws IOException {
        boolean empty = extents.length() == 0 && (FileName.isRemote(source) || isEmpty(source));
        if (empty && !FileName.isRemote(target)) {
            return new Result(0, 0, 0, paths());
        }
        long start = System.nanoTime();
        // A mapping is registered only for a file that does not change: the user who requests that path guarantees it.
        FileOption[] read = demanded == TransferPath.MAPPED
                ? new FileOption[] {FileOption.READ, FileOption.IMMUTABLE}
                : new FileOption[] {FileOption.READ};
        backend.withFile(source, read, from -> backend.withFile(target, write, to -> copy(from, extents, to, listener)))
                .contextWrite(LateErrors::debugged)
                .block();
        return new Result(Math.max(extents.length(), done.get()), done.get(), System.nanoTime() - start, paths());
    }

    /** Reads the file itself: files of /proc report a length of 0 but are not empty. */
    private static boolean isEmpty(Path source) throws IOException {
        try (InputStream bytes = Files.newInputStream(source)) {
            return bytes.read() < 0;
        } catch (FileSystemException e) {
            throw e;
        } catch (IOException e) { // which has no name
            throw new IOException(source + ": " + e.getMessage(), e);
        }
    }

    private Mono<Void> copy(StorageFile from, DataExtents extents, StorageFile to, Listener listener) {
        if (FileName.isRemote(from.path()) && from.size() != extents.length()) {
            return Mono.error(new IOException(from.path() + " has changed on its host: it has " + from.size()
                    + " bytes, and had " + extents.length() + " when the copy began"));
        }
        if (!extents.identity().isEmpty() && !extents.identity().equals(DataExtents.identity(from.attributes()))) {
            return Mono.error(
                    new IOException(from.path() + " was replaced or changed when the copy began; run it again"));
        }
        if (extents.length() == 0) {
            return copyToEnd(from, to, listener).then(to.sync());
        }
        Chunks chunks = new Chunks(extents, chunkBytes);
        Mono<Void> moved = FirstError.of(
                Flux.range(0, chunks.atMost(BUFFERS))
                        .map(index -> backend.withBuffer(
                                chunks.bytes(),
                                buffer -> Flux.<Chunks.Segment>generate(chunks::next)
                                        .concatMap(
                                                segment -> moveChunk(
                                                        from.region(segment.offset(), segment.length()), to, buffer),
                                                0)
                                        .doOnNext(bytes ->
                                                listener.copied(done.addAndGet(bytes), extents.dataBytes(), paths()))
                                        .then())),
                BUFFERS);
        Mono<Void> lengthened = extents.endsInHole() ? to.truncate(extents.length()) : Mono.empty();
        return moved.then(lengthened).then(to.sync());
    }

    /** Copies a file with a reported length of 0, such as a file of /proc, which need not be empty. */
    private Mono<Void> copyToEnd(StorageFile from, StorageFile to, Listener listener) {
        AtomicBoolean ended = new AtomicBoolean();
        return backend.withBuffer(
                chunkBytes,
                buffer -> Mono.defer(() -> moveNext(from, to, buffer))
                        .doOnNext(bytes -> {
                            ended.set(bytes == 0);
                            listener.copied(done.addAndGet(bytes), 0, paths());
                        })
                        .repeat(() -> !ended.get())
                        .then());
    }

    private Mono<Long> moveNext(StorageFile from, StorageFile to, DeviceBuffer buffer) {
        long offset = done.get();
        return submit(Transfer.read(from.region(offset, chunkBytes), buffer.region(0, chunkBytes)), readPaths)
                .flatMap(read -> read.bytes() == 0
                        ? Mono.just(0L)
                        : submit(
                                        Transfer.write(buffer.region(0, read.bytes()), to.region(offset, read.bytes())),
                                        writePaths)
                                .map(Completion::bytes));
    }

    private Mono<Long> moveChunk(FileRegion from, StorageFile to, DeviceBuffer buffer) {
        BufferRegion memory = buffer.region(0, from.length());
        return submit(Transfer.read(from, memory), readPaths)
                .flatMap(read -> read.bytes() < from.length()
                        ? Mono.error(tooShort(from, read.bytes()))
                        : submit(Transfer.write(memory, to.region(from.offset(), from.length())), writePaths))
                .map(Completion::bytes);
    }

    private static IOException tooShort(FileRegion from, long bytes) {
        return new IOException(from.file().path() + " ends at byte " + (from.offset() + bytes)
                + ", before its reported length: it was truncated, or is not a file on a disk");
    }

    private Mono<Completion> submit(Transfer transfer, Set<TransferPath> paths) {
        // No mapping is written through.
        boolean checked = demanded != null && (transfer.isRead() || demanded != TransferPath.MAPPED);
        if (checked) {
            Explanation plan = backend.explain(transfer);
            if (plan.path() != demanded) {
                return Mono.error(new IOException("the " + transfer + " would use path " + plan.path() + ", not "
                        + demanded + Variant.why(": ", plan)));
            }
        }
        boolean direct = demanded == TransferPath.DIRECT;
        return backend.submit(direct ? transfer.requireDirect() : transfer)
                .doOnNext(completion -> paths.add(completion.path()));
    }

    private String paths() {
        Set<TransferPath> both = new TreeSet<>(readPaths);
        both.addAll(writePaths);
        if (both.size() < 2) {
            return both.isEmpty() ? "none" : String.valueOf(both.iterator().next());
        }
        return "in " + readPaths + ", out " + writePaths;
    }

    /** Splits the data of a file into chunks, in order, each emitted once. Thread-safe. */
    private static final class Chunks {

        /** Bytes of the file. */
        record Segment(long offset, long length) {}

        private final long bytes;
        private final long count;
        private final Iterator<DataExtents.Extent> extents; // guarded by this
        private DataExtents.Extent current = new DataExtents.Extent(0, 0); // the rest of it; guarded by this

        /**
         * Splits each extent separately.
         *
         * @param mostBytes the bytes of a chunk; fewer if no extent is that long
         */
        Chunks(DataExtents data, long mostBytes) {
            long longest = data.extents().stream()
                    .mapToLong(extent -> extent.end() - extent.offset())
                    .max()
                    .orElse(1);
            bytes = Math.min(mostBytes, longest);
            count = data.extents().stream()
                    .mapToLong(extent -> (extent.end() - extent.offset() + bytes - 1) / bytes)
                    .sum();
            extents = data.extents().iterator();
        }

        /** Returns the bytes of the largest chunk. */
        long bytes() {
            return bytes;
        }

        /** Returns the number of chunks, at most {@code most}. */
        int atMost(int most) {
            return (int) Math.min(most, count);
        }

        /** Emits the next chunk, or completes. */
        synchronized void next(SynchronousSink<Segment> sink) {
            if (current.offset() == current.end()) {
                if (!extents.hasNext()) {
                    sink.complete();
                    return;
                }
                current = extents.next();
            }
            long length = Math.min(bytes, current.end() - current.offset());
            sink.next(new Segment(current.offset(), length));
            current = new DataExtents.Extent(current.offset() + length, current.end());
        }
    }
}
