// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Backend;
import io.penstock.Chunk;
import io.penstock.FileOption;
import io.penstock.FileRegion;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import java.io.EOFException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.util.TaskCompletionListener;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The rows of one task, on demand. The stream ends, and its budget and backend are released, when the last row has been
 * taken or when Spark ends the task for any reason.
 */
final class DeviceRows<T> implements Iterator<T> {

    private static final int ROWS_AHEAD = 16;
    private static final Duration KILL_CHECK = Duration.ofMillis(500);

    private final TaskContext task;
    private final Stream<T> stream;
    private final Iterator<T> rows;

    private DeviceRows(TaskContext task, Stream<T> stream) {
        this.task = task;
        this.stream = stream;
        this.rows = stream.iterator();
    }

    /** Starts a stream of regions, on the thread of a task. Waits until the budget has room for its chunks. */
    static <T> Iterator<T> of(List<Region> regions, DeviceFunction<T> function, long chunkBytes, int depth)
            throws InterruptedException {
        TaskContext task = TaskContext.get();
        ExecutorBackend.Lease lease = ExecutorBackend.lease();
        task.addTaskCompletionListener((TaskCompletionListener) ended -> lease.close());
        // A stream has no more chunks than its regions fill.
        long bytes = Math.min(
                chunkBytes, regions.stream().mapToLong(Region::length).max().orElse(0));
        Disposable permit = lease.budget().acquire(Math.multiplyExact(bytes, (long) depth));
        Stream<T> stream = Flux.fromIterable(byFile(regions))
                .concatMap(neighbours -> new FileRows<>(neighbours, function, lease).rows(bytes, depth))
                .takeUntilOther(killed(task))
                .toStream(ROWS_AHEAD)
                .onClose(permit::dispose);
        // Listeners run in reverse order: this one before the lease ends. Before the stream starts, which may fail.
        task.addTaskCompletionListener((TaskCompletionListener) ended -> stream.close());
        return new DeviceRows<>(task, stream);
    }

    /**
     * Ends with an error when Spark has killed the task. Not every kill interrupts the thread, which would then wait
     * for ever if the function emits no further row.
     */
    private static Mono<Void> killed(TaskContext task) {
        return Flux.interval(KILL_CHECK)
                .filter(check -> task.isInterrupted())
                .next()
                .flatMap(check -> Mono.error(new TaskKilledException("the task was killed")));
    }

    /** Groups neighbours of the same file. */
    private static List<List<Region>> byFile(List<Region> regions) {
        List<List<Region>> files = new ArrayList<>();
        for (Region region : regions) {
            if (files.isEmpty() || !files.get(files.size() - 1).get(0).path().equals(region.path())) {
                files.add(new ArrayList<>());
            }
            files.get(files.size() - 1).add(region);
        }
        return files;
    }

    /** Neighbouring regions of one file. Chunks come in their order, and none is of two regions. */
    private static final class FileRows<T> {

        private final List<Region> regions;
        private final DeviceFunction<T> function;
        private final Backend backend;
        private final LongAdder functions;
        private int current;
        private long done; // of the current region

        FileRows(List<Region> regions, DeviceFunction<T> function, ExecutorBackend.Lease lease) {
            this.regions = regions;
            this.function = function;
            this.backend = lease.device();
            this.functions = lease.functions();
        }

        Flux<T> rows(long chunkBytes, int depth) {
            // By a blocking call, on a thread that may block: usingWhen would lose a file that is opened while it is
            // cancelled.
            return Flux.<T, StorageFile>using(
                            () -> backend.blocking()
                                    .openFile(Path.of(regions.get(0).path()), FileOption.READ),
                            file -> backend.<T>stream(
                                            plan(file).chunkBytes(chunkBytes).depth(depth),
                                            chunk -> rows(chunk, chunkBytes))
                                    .concatWith(Mono.defer(this::end)),
                            StorageFile::close)
                    .subscribeOn(Schedulers.boundedElastic());
        }

        /** A chunk of which the file has no byte any more is no chunk of the stream. */
        private Mono<T> end() {
            Region region = regions.get(current);
            return current == regions.size() - 1 && done == region.length()
                    ? Mono.empty()
                    : Mono.error(shorter(region));
        }

        private static EOFException shorter(Region region) {
            return new EOFException("the file became shorter than when the query was planned: " + region);
        }

        private StreamPlan plan(StorageFile file) {
            List<FileRegion> all = new ArrayList<>();
            regions.forEach(region -> all.add(file.region(region.offset(), region.length())));
            return StreamPlan.of(all);
        }

        private Publisher<? extends T> rows(Chunk chunk, long chunkBytes) {
            if (done == regions.get(current).length()) {
                current++;
                done = 0;
            }
            Region region = regions.get(current);
            long expected = Math.min(chunkBytes, region.length() - done);
            if (chunk.fileOffset() != region.offset() + done || chunk.length() < expected) {
                return Mono.error(shorter(region));
            }
            done += chunk.length();
            long started = System.nanoTime();
            return Flux.from(function.apply(region, chunk, backend))
                    .doFinally(end -> functions.add(System.nanoTime() - started));
        }
    }

    @Override
    public boolean hasNext() {
        if (task.isInterrupted()) {
            throw new TaskKilledException("the task was killed");
        }
        boolean more = rows.hasNext();
        if (!more) {
            stream.close();
        }
        return more;
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return rows.next();
    }
}
