// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

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
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;

/** Copies a file through a few buffers of device memory: each is filled, written out, and filled again. */
final class DeviceCopy {

    private static final int BUFFERS = 4;

    /** Hears how many bytes have arrived. */
    interface Listener {
        void copied(long done, long total);
    }

    /**
     * What the copy came to.
     *
     * @param bytes the bytes copied
     * @param nanos the time from the first read until everything was durable
     * @param paths the paths that reads and writes took
     */
    record Result(long bytes, long nanos, String paths) {}

    private final Backend backend;
    private final long chunkBytes;
    private final @Nullable TransferPath demanded;
    private final Set<TransferPath> readPaths = new ConcurrentSkipListSet<>();
    private final Set<TransferPath> writePaths = new ConcurrentSkipListSet<>();
    private final AtomicLong done = new AtomicLong();

    DeviceCopy(Backend backend, long chunkBytes, @Nullable TransferPath demanded) {
        this.backend = backend;
        this.chunkBytes = chunkBytes;
        this.demanded = demanded;
    }

    /** Copies {@code source} to {@code target}, which must not exist; what was written so far stays if this fails. */
    Result run(Path source, Path target, Listener listener) {
        long start = System.nanoTime();
        FileOption[] create = {FileOption.WRITE, FileOption.CREATE_NEW};
        // A mapping is registered for a file that stays as it is: whoever asks for that way promises so.
        FileOption[] read = demanded == TransferPath.MAPPED
                ? new FileOption[] {FileOption.READ, FileOption.IMMUTABLE}
                : new FileOption[] {FileOption.READ};
        backend.withFile(source, read, from -> backend.withFile(target, create, to -> move(from, to, listener)))
                .block();
        return new Result(done.get(), System.nanoTime() - start, paths());
    }

    private Mono<Void> move(StorageFile from, StorageFile to, Listener listener) {
        long size = from.size();
        long chunk = Math.max(1, Math.min(chunkBytes, size));
        long chunks = (size + chunk - 1) / chunk;
        int buffers = (int) Math.min(BUFFERS, chunks);
        if (buffers == 0) {
            return to.sync();
        }
        return Flux.range(0, buffers)
                .flatMap(
                        first -> backend.withBuffer(
                                chunk,
                                buffer -> indices(first, buffers, chunks)
                                        .map(index -> from.region(index * chunk, Math.min(chunk, size - index * chunk)))
                                        .concatMap(region -> moveChunk(region, to, buffer))
                                        .doOnNext(bytes -> listener.copied(done.addAndGet(bytes), size))
                                        .then()),
                        buffers)
                .then(to.sync());
    }

    /** Returns the chunks of one of the buffers: every {@code step}th. */
    private static Flux<Long> indices(long first, int step, long chunks) {
        return Flux.generate(() -> first, (index, sink) -> next(index, step, chunks, sink));
    }

    private static long next(long index, int step, long chunks, SynchronousSink<Long> sink) {
        if (index < chunks) {
            sink.next(index);
        } else {
            sink.complete();
        }
        return index + step;
    }

    private Mono<Long> moveChunk(FileRegion from, StorageFile to, DeviceBuffer buffer) {
        BufferRegion memory = buffer.region(0, from.length());
        return submit(Transfer.read(from, memory), readPaths)
                .flatMap(read -> read.bytes() < from.length()
                        ? Mono.error(new IOException(from.file().path() + " became shorter while it was copied"))
                        : submit(Transfer.write(memory, to.region(from.offset(), from.length())), writePaths))
                .map(Completion::bytes);
    }

    private Mono<Completion> submit(Transfer transfer, Set<TransferPath> paths) {
        // Nothing is written through a mapping.
        boolean checked = demanded != null && (transfer.isRead() || demanded != TransferPath.MAPPED);
        if (checked) {
            Explanation plan = backend.explain(transfer);
            if (plan.path() != demanded) {
                return Mono.error(new IOException(
                        "the " + transfer + " would go " + plan.path() + ", not " + demanded + why(plan)));
            }
        }
        boolean direct = demanded == TransferPath.DIRECT;
        return backend.submit(direct ? transfer.requireDirect() : transfer)
                .doOnNext(completion -> paths.add(completion.path()));
    }

    private static String why(Explanation plan) {
        String why = plan.whyNotDirect().isEmpty() ? "" : ": " + plan.whyNotDirect();
        return plan.remedy().isEmpty() ? why : why + " (remedy: " + plan.remedy() + ")";
    }

    private String paths() {
        Set<TransferPath> both = new TreeSet<>(readPaths);
        both.addAll(writePaths);
        if (both.size() < 2) {
            return both.isEmpty() ? "none" : String.valueOf(both.iterator().next());
        }
        return "in " + readPaths + ", out " + writePaths;
    }
}
