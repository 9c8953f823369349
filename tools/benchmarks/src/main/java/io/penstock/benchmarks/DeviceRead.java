// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/** Penstock: one subscriber reads a file into one buffer of a device. */
final class DeviceRead implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long UNPINNED_BYTES_PER_MILLISECOND = 10_000_000;

    private final Device device;
    private final Path path;
    private final long bytes;
    private final long segmentBytes;
    private final int inFlight;
    private final FileOption[] opened;
    private final boolean fresh;
    private final Backend backend;
    private final DeviceBuffer buffer;
    private final Set<String> paths = new TreeSet<>();
    private final Set<String> reasons = new TreeSet<>();
    private StorageFile file;

    /**
     * Opens its resources.
     *
     * @param order with {@code segment}, the bytes of each transfer, by default a single one; {@code in-flight};
     *     {@code fresh} if each run reads a file that appears never to have been read
     */
    DeviceRead(DeviceBench bench, Order order) {
        device = bench.device;
        path = Path.of(order.get("file", bench.hot.toString()));
        bytes = order.number("bytes", bench.bytes());
        segmentBytes = order.number("segment", bytes);
        inFlight = (int) order.number("in-flight", SubmitOptions.DEFAULT.inFlight());
        opened = order.opened();
        fresh = order.has("fresh");
        backend = device.open(bench.options(order));
        buffer = backend.allocate(bytes).block();
        file = open();
    }

    private StorageFile open() {
        return backend.openFile(path, opened).block();
    }

    @Override
    public Measure run(long nanos) throws Exception {
        prepare();
        return Measure.of(() -> read(null), device::cpuNanos);
    }

    /** Of a stream of transfers; a single one has no percentiles. */
    @Override
    public @Nullable Latency latency(long nanos) throws Exception {
        if (isOne()) {
            return null;
        }
        prepare();
        Stopwatch watch = new Stopwatch(Math.toIntExact(bytes / segmentBytes + 1));
        read(watch);
        return watch.latency();
    }

    private void prepare() throws Exception {
        if (fresh) {
            file.close();
            Files.setLastModifiedTime(path, FileTime.fromMillis(System.currentTimeMillis()));
            file = open();
            // Pins of the file's previous state are released now, in the background: not part of a first read.
            Thread.sleep(50 + bytes / UNPINNED_BYTES_PER_MILLISECOND);
        }
        device.poison(buffer.nativeHandle(), bytes);
    }

    private boolean isOne() {
        return segmentBytes >= bytes;
    }

    private long read(@Nullable Stopwatch watch) {
        Flux<Completion> moved;
        if (isOne()) {
            moved = backend.submit(transfer(0)).flux();
        } else {
            long count = (bytes + segmentBytes - 1) / segmentBytes;
            Flux<Transfer> source = Flux.range(0, Math.toIntExact(count)).map(this::transfer);
            SubmitOptions options = SubmitOptions.DEFAULT.inFlight(inFlight);
            moved = watch == null
                    ? backend.submit(source, options)
                    : backend.submit(source.doOnNext(each -> watch.begin(segment(each))), options)
                            .doOnNext(each -> watch.end(segment(each.transfer())));
        }
        long sum = 0;
        for (Completion end : moved.collectList().block(LIMIT)) {
            paths.add(end.path() + " " + end.evidence());
            reasons.add(end.path() + " " + end.evidence() + " (" + end.reason() + ")");
            sum += end.bytes();
        }
        return sum;
    }

    private Transfer transfer(int segment) {
        long at = segment * segmentBytes;
        long length = Math.min(segmentBytes, bytes - at);
        return Transfer.read(file.region(at, length), buffer.region(at, length));
    }

    private int segment(Transfer transfer) {
        return (int) (((BufferRegion) transfer.target()).offset() / segmentBytes);
    }

    @Override
    public void verify() throws IOException {
        device.verify(buffer.nativeHandle(), 0, bytes, 0);
    }

    @Override
    public String remark() {
        return String.join(", ", paths);
    }

    @Override
    public String log() {
        return String.join("; ", reasons);
    }

    @Override
    public void close() {
        file.close();
        buffer.close();
        backend.close();
    }
}
