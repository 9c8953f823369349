// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;

/** Penstock: arrays of a file into memory of one or more GPUs, by a {@link Loader} for each, all at the same time. */
final class ModelLoad implements Contender {

    /** Returns the loader of a GPU, from one with default settings. */
    interface Settings {
        Loader of(Loader loader, int device);
    }

    /**
     * What each GPU gets.
     *
     * @param file whose arrays have the content of the test file from {@code places} on
     * @param devices the number of GPUs
     * @param sliced whether each GPU gets its part of each array, all of the same length; else all get all of it
     * @param settings is asked once for each round
     */
    record Plan(Path file, Map<String, Long> places, int devices, boolean sliced, Supplier<Settings> settings) {

        /** Returns the plan of the whole file for one GPU. */
        static Plan of(Path file, Map<String, Long> places) {
            return new Plan(file, places, 1, false, () -> (loader, device) -> loader);
        }
    }

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final String name;
    private final Plan plan;
    private final List<Backend> backends = new ArrayList<>();
    private final List<LoadedArrays> loaded = new ArrayList<>(); // by GPU

    ModelLoad(String name, Plan plan) {
        this.name = name;
        this.plan = plan;
        for (int device = 0; device < plan.devices; device++) {
            backends.add(SeveralGpus.backend(device));
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        free();
        return Measure.of(this::load, GpuMemoryCheck::cpuNanos);
    }

    private long load() {
        Settings settings = plan.settings.get();
        loaded.addAll(Flux.range(0, plan.devices)
                .flatMapSequential(device ->
                        settings.of(Loader.of(backends.get(device)), device).load(plan.file))
                .collectList()
                .block(LIMIT));
        return loaded.stream().mapToLong(LoadedArrays::bytes).sum();
    }

    @Override
    public void verify() throws IOException {
        for (int device = 0; device < plan.devices; device++) {
            LoadedArrays arrays = loaded.get(device);
            if (arrays.arrays().size() != plan.places.size()) {
                throw new IOException(name + ": not all arrays were loaded");
            }
            for (DeviceArray array : arrays.arrays()) {
                long place = plan.places.get(array.name()) + (plan.sliced ? device * array.bytes() : 0);
                long address =
                        array.region().buffer().nativeHandle() + array.region().offset();
                long bad = GpuMemoryCheck.differences(device, address, array.bytes(), place);
                if (bad != 0) {
                    throw new IOException(array + " on GPU " + device + ": " + bad + " wrong words");
                }
            }
        }
    }

    /** Memory that is allocated again must not have the content that is expected of it. */
    private void free() throws IOException {
        for (int device = 0; device < loaded.size(); device++) {
            LoadedArrays arrays = loaded.get(device);
            for (DeviceBuffer buffer : arrays.arrays().stream()
                    .map(array -> array.region().buffer())
                    .distinct()
                    .toList()) {
                GpuMemoryCheck.fill(device, buffer.nativeHandle(), buffer.length(), GpuBench.POISON);
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
