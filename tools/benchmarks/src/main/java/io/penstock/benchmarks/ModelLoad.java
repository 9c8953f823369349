// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import io.penstock.formats.SharedLoad;
import io.penstock.formats.Slice;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;

/** Penstock: arrays of a file into memory of one or more GPUs, by a {@link Loader} for each, all at the same time. */
final class ModelLoad implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ArraysFile file;
    private final boolean direct;
    private final boolean
            sliced; // each GPU gets its part of each array, all of the same length; else all get all of it
    private final boolean shared; // read once
    private final List<CudaDevice> devices = new ArrayList<>();
    private final List<Backend> backends = new ArrayList<>();
    private final List<LoadedArrays> loaded = new ArrayList<>(); // by GPU

    ModelLoad(ArraysFile file, Order order) {
        this.file = file;
        direct = order.has("direct");
        sliced = order.get("each", "").equals("rows");
        shared = order.get("each", "").equals("all");
        for (int number = 0; number < Integer.parseInt(order.get("devices", "1")); number++) {
            devices.add(new CudaDevice(number));
            backends.add(devices.get(number).openOwn(Options.none()));
        }
    }

    @Override
    public Measure run(long nanos) throws Exception {
        free();
        return Measure.of(this::load, GpuMemoryCheck::cpuNanos);
    }

    private long load() {
        SharedLoad together = new SharedLoad();
        loaded.addAll(Flux.range(0, devices.size())
                .flatMapSequential(device -> loader(device, together).load(file.path()))
                .collectList()
                .block(LIMIT));
        return loaded.stream().mapToLong(LoadedArrays::bytes).sum();
    }

    private Loader loader(int device, SharedLoad together) {
        Loader loader = Loader.of(backends.get(device));
        loader = direct ? loader.fileOptions(FileOption.READ, FileOption.DIRECT) : loader;
        loader = shared ? loader.shared(together) : loader;
        return sliced ? loader.slice(Slice.rows(device, devices.size())) : loader;
    }

    @Override
    public void verify() throws IOException {
        for (CudaDevice device : devices) {
            LoadedArrays arrays = loaded.get(device.number());
            if (arrays.arrays().size() != file.places().size()) {
                throw new IOException("not all arrays were loaded");
            }
            for (DeviceArray array : arrays.arrays()) {
                long place = file.places().get(array.name()) + (sliced ? device.number() * array.bytes() : 0);
                long memory = array.region().buffer().nativeHandle();
                device.verify(memory, array.region().offset(), array.bytes(), place);
            }
        }
    }

    /** Memory that is allocated again must not have the content that is expected of it. */
    private void free() throws IOException {
        for (int device = 0; device < loaded.size(); device++) {
            LoadedArrays arrays = loaded.get(device);
            List<DeviceBuffer> buffers = arrays.arrays().stream()
                    .map(array -> array.region().buffer())
                    .distinct()
                    .toList();
            for (DeviceBuffer buffer : buffers) {
                devices.get(device).poison(buffer.nativeHandle(), buffer.length());
            }
            arrays.close();
        }
        loaded.clear();
    }

    @Override
    public void close() throws IOException {
        free();
        backends.forEach(Backend::close);
    }
}
