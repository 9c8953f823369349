// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.SharedRead;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;

/** Penstock: a backend for each of several GPUs, all of which read at the same time. */
final class SeveralGpus implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long TENSOR_BYTES = 48 << 20; // about a large layer of an 8B model

    /** How the GPUs get the file. */
    private enum Reads {
        /** Each reads all of it. */
        EACH,
        /** Each byte is read once, and copied to the others. */
        SHARED,
        /** The first has read it, and the others copy from it: only that is measured. */
        COPIED,
        /** Each reads its part by one transfer, memory for it included, which a load of arrays needs too. */
        NEW
    }

    private final long bytes; // to each GPU
    private final Reads reads;
    private final List<CudaDevice> devices = new ArrayList<>();
    private final List<Backend> backends = new ArrayList<>();
    private final List<StorageFile> files = new ArrayList<>();
    private final Map<Integer, DeviceBuffer> buffers = new ConcurrentHashMap<>(); // by GPU
    private final TreeSet<String> paths = new TreeSet<>();

    /** Opens a file for each GPU. */
    SeveralGpus(Order order, Options options, List<Path> paths, long fileBytes) {
        reads = order.constant(Reads.class, "reads", Reads.EACH);
        long all = Long.parseLong(order.get("bytes", "" + fileBytes));
        bytes = reads == Reads.NEW ? all / paths.size() : all;
        for (Path path : paths) {
            CudaDevice device = new CudaDevice(devices.size());
            Backend backend = device.openOwn(options);
            if (reads != Reads.NEW) {
                buffers.put(devices.size(), backend.allocate(bytes).block(LIMIT));
            }
            devices.add(device);
            backends.add(backend);
            files.add(backend.openFile(path, FileOption.READ).block(LIMIT));
        }
    }

    @Override
    public Measure run(long nanos) throws Exception {
        poison();
        if (reads == Reads.NEW) {
            free();
        } else if (reads == Reads.COPIED) {
            moved(backends.get(0).submit(whole(0)).flux());
        }
        return Measure.of(this::read, GpuMemoryCheck::cpuNanos);
    }

    /** Memory that is read into, or allocated again, must not have the content that is expected of it. */
    private void poison() throws IOException {
        for (Map.Entry<Integer, DeviceBuffer> buffer : buffers.entrySet()) {
            devices.get(buffer.getKey()).poison(buffer.getValue().nativeHandle(), bytes);
        }
    }

    private long read() {
        List<Flux<Completion>> all = new ArrayList<>();
        SharedRead shared = new SharedRead();
        for (int number = reads == Reads.COPIED ? 1 : 0; number < devices.size(); number++) {
            int device = number;
            Backend backend = backends.get(device);
            all.add(
                    switch (reads) {
                        case EACH -> backend.submit(Flux.fromIterable(tensors(device)), SubmitOptions.DEFAULT);
                        case SHARED -> shared.join(backend, whole(device)).flux();
                        case COPIED ->
                            backend.submit(Transfer.copy(
                                            buffers.get(0).all(),
                                            buffers.get(device).all()))
                                    .flux();
                        case NEW ->
                            backend.allocate(bytes)
                                    .doOnNext(buffer -> buffers.put(device, buffer))
                                    .flatMap(buffer -> backend.submit(whole(device)))
                                    .flux();
                    });
        }
        return moved(Flux.merge(all));
    }

    private List<Transfer> tensors(int device) {
        List<Transfer> transfers = new ArrayList<>();
        for (long at = 0; at < bytes; at += TENSOR_BYTES) {
            long length = Math.min(TENSOR_BYTES, bytes - at);
            transfers.add(Transfer.read(
                    files.get(device).region(at, length), buffers.get(device).region(at, length)));
        }
        return transfers;
    }

    private Transfer whole(int device) {
        return Transfer.read(
                files.get(device).region(from(device), bytes),
                buffers.get(device).all());
    }

    private long from(int device) {
        return reads == Reads.NEW ? device * bytes : 0;
    }

    private long moved(Flux<Completion> ends) {
        long moved = 0;
        for (Completion completion : ends.collectList().block(LIMIT)) {
            moved += completion.bytes();
            paths.add(completion.path() + " (" + completion.reason() + ")");
        }
        return moved;
    }

    @Override
    public void verify() throws IOException {
        for (CudaDevice device : devices) {
            int number = device.number();
            device.verify(buffers.get(number).nativeHandle(), 0, bytes, from(number));
        }
    }

    @Override
    public String log() {
        return String.join("; ", paths);
    }

    private void free() {
        buffers.values().forEach(DeviceBuffer::close);
        buffers.clear();
    }

    @Override
    public void close() throws IOException {
        poison();
        free();
        files.forEach(StorageFile::close);
        backends.forEach(Backend::close);
    }
}
