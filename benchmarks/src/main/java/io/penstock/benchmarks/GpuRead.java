// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/** Penstock: one subscriber reads a file into one buffer of the GPU. */
final class GpuRead implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long UNPINNED_BYTES_PER_MILLISECOND = 10_000_000;

    /**
     * The file to read, and how.
     *
     * @param segmentBytes bytes of each transfer; a single transfer if that is the whole file
     * @param fresh true if each run reads a file that appears never to have been read
     */
    record Plan(Path file, long bytes, long segmentBytes, Options options, Set<FileOption> opened, boolean fresh) {}

    private final String name;
    private final Plan plan;
    private final Backend backend;
    private final DeviceBuffer buffer;
    private final Set<String> variants = new TreeSet<>();
    private StorageFile file;

    GpuRead(String name, Plan plan) {
        this.name = name;
        this.plan = plan;
        backend = Backends.open("cufile", plan.options());
        buffer = backend.allocate(plan.bytes()).block();
        file = open();
    }

    private StorageFile open() {
        return backend.openFile(plan.file(), plan.opened().toArray(new FileOption[0]))
                .block();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        prepare();
        return Measure.of(() -> read(null), GpuMemoryCheck::cpuNanos);
    }

    /** Of a stream of transfers; a single one has no percentiles. */
    @Override
    public @Nullable Latency latency(long nanos) throws Exception {
        if (isOne()) {
            return null;
        }
        prepare();
        Stopwatch watch = new Stopwatch(Math.toIntExact(plan.bytes() / plan.segmentBytes() + 1));
        read(watch);
        return watch.latency();
    }

    private void prepare() throws Exception {
        if (plan.fresh()) {
            file.close();
            Files.setLastModifiedTime(plan.file(), FileTime.fromMillis(System.currentTimeMillis()));
            file = open();
            // Pins of the file's previous state are released now, in the background: not part of a first read.
            Thread.sleep(50 + plan.bytes() / UNPINNED_BYTES_PER_MILLISECOND);
        }
        GpuMemoryCheck.fill(buffer.nativeHandle(), plan.bytes(), GpuBench.POISON);
    }

    private boolean isOne() {
        return plan.segmentBytes() >= plan.bytes();
    }

    private long read(@Nullable Stopwatch watch) {
        List<Completion> ended;
        if (isOne()) {
            ended = List.of(backend.submit(Transfer.read(file.region(0, plan.bytes()), region(0, plan.bytes())))
                    .block(LIMIT));
        } else {
            List<Transfer> transfers = new ArrayList<>();
            for (long at = 0; at < plan.bytes(); at += plan.segmentBytes()) {
                long length = Math.min(plan.segmentBytes(), plan.bytes() - at);
                transfers.add(Transfer.read(file.region(at, length), region(at, length)));
            }
            Flux<Transfer> source = Flux.fromIterable(transfers);
            Flux<Completion> moved = backend.submit(
                    watch == null ? source : source.doOnNext(each -> watch.begin(segment(each))),
                    SubmitOptions.DEFAULT);
            ended = (watch == null ? moved : moved.doOnNext(each -> watch.end(segment(each.transfer()))))
                    .collectList()
                    .block(LIMIT);
        }
        ended.forEach(completion ->
                variants.add(completion.path() + " " + completion.evidence() + " (" + completion.reason() + ")"));
        return ended.stream().mapToLong(Completion::bytes).sum();
    }

    private int segment(Transfer transfer) {
        return (int) (((BufferRegion) transfer.target()).offset() / plan.segmentBytes());
    }

    private BufferRegion region(long at, long length) {
        return buffer.region(at, length);
    }

    @Override
    public void verify() throws IOException {
        long bad = GpuMemoryCheck.differences(buffer.nativeHandle(), plan.bytes(), 0);
        if (bad != 0) {
            throw new IOException(name + ": " + bad + " wrong words");
        }
    }

    @Override
    public void close() {
        System.out.println(name + ": " + variants.stream().collect(Collectors.joining("; ")));
        file.close();
        buffer.close();
        backend.close();
    }
}
