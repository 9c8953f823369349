// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.file.FirstError;
import io.penstock.file.LateErrors;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.Load;
import io.penstock.formats.LoadPlan;
import io.penstock.formats.LoadProgress;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** The devices of one {@code penstock load}, and the owner of what is opened for them. */
final class LoadTargets implements AutoCloseable {

    /** One device, and what is loaded into it. */
    static final class Target {

        private final Backend backend;
        private final String name;
        private final LoadPlan plan;
        private final Load load;
        private @Nullable LoadedArrays loaded;
        private @Nullable Map<String, String> sums;

        Target(Backend backend, String name, LoadPlan plan, Load load) {
            this.backend = backend;
            this.name = name;
            this.plan = plan;
            this.load = load;
        }

        Backend backend() {
            return backend;
        }

        /** Returns {@code device 1}, or an empty text if no device was named. */
        String name() {
            return name;
        }

        /** Returns why arrays of the files cannot be read, by name. */
        Map<String, String> leftOut() {
            return plan.leftOut();
        }

        LoadedArrays loaded() {
            return Objects.requireNonNull(loaded, "not loaded yet");
        }

        /** Returns whether the arrays were verified, if there are any. */
        boolean isVerified() {
            return sums != null;
        }

        /** Returns the sums of the arrays by name, none if they were not verified. */
        Map<String, String> sums() {
            return sums == null ? Map.of() : sums;
        }
    }

    private final List<Backend> backends = new ArrayList<>();
    private final List<Target> targets = new ArrayList<>();
    private long nanos;
    private volatile String path = "unknown";

    /** Returns the backend, which is closed with this. */
    Backend own(Backend backend) {
        backends.add(backend);
        return backend;
    }

    void add(Backend backend, String name, Loader loader, List<Path> files) {
        Path[] paths = files.toArray(new Path[0]);
        LoadPlan plan = Objects.requireNonNull(loader.explain(paths).block());
        targets.add(new Target(backend, name, plan, loader.prepare(paths)));
    }

    /** Loads into all devices at the same time. */
    void load(Progress progress) {
        Disposable shown = Flux.combineLatest(
                        targets.stream().map(target -> target.load.progress()).toList(), LoadTargets::sum)
                .subscribe(step -> progress.step("path " + path + ", loading", step.done(), step.total()));
        // The backends are closed with this, and their listeners with them.
        targets.stream()
                .filter(target -> progress.isShown())
                .forEach(target -> target.backend.listen(completion -> path = String.valueOf(completion.path())));
        long start = System.nanoTime();
        try {
            FirstError.of(
                            Flux.fromIterable(targets)
                                    .map(target -> target.load.arrays().doOnNext(arrays -> target.loaded = arrays)),
                            targets.size())
                    .contextWrite(LateErrors::debugged)
                    .block();
        } finally {
            shown.dispose();
        }
        nanos = targets.size() == 1 ? targets.get(0).loaded().nanos() : System.nanoTime() - start;
    }

    private static LoadProgress sum(Object[] steps) {
        long done = 0;
        long total = 0;
        for (Object step : steps) {
            done += ((LoadProgress) step).done();
            total += ((LoadProgress) step).total();
        }
        return new LoadProgress(done, total);
    }

    void verify(Progress progress) throws IOException {
        for (Target target : targets) {
            target.sums = new DeviceSums(progress).verify(target.plan, target.loaded());
        }
    }

    List<Target> targets() {
        return targets;
    }

    long bytes() {
        return targets.stream().mapToLong(target -> target.loaded().bytes()).sum();
    }

    /** Returns the time until the last byte was in its device. */
    long nanos() {
        return nanos;
    }

    @Override
    public void close() {
        try {
            for (Target target : targets) {
                if (target.loaded != null) {
                    target.loaded.close();
                }
            }
        } finally {
            backends.forEach(Backend::close);
        }
    }

    /**
     * Sums of what lies in memory of a device, compared with sums of the files. The files are read by the JDK, so that the
     * transfers do not verify themselves; what is decoded is decoded as it was by the load.
     */
    private static final class DeviceSums {

        private static final int BYTES = 8 << 20; // at a time

        private final Progress progress;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);

        DeviceSums(Progress progress) {
            this.progress = progress;
        }

        /**
         * Returns the sum of each array.
         *
         * @throws IOException if one differs from the file's
         */
        Map<String, String> verify(LoadPlan plan, LoadedArrays loaded) throws IOException {
            Map<String, String> sums = new LinkedHashMap<>();
            long done = 0;
            for (LoadPlan.Placement placement : plan.arrays()) {
                String name = placement.array().name();
                long device = ofDevice(loaded.get(name));
                long file = ofFile(plan, placement);
                if (device != file) {
                    throw new IOException(String.format(
                            "array %s differs: CRC-32C of the device's memory is %08x, of %s %08x",
                            name, device, placement.source().first().file(), file));
                }
                sums.put(name, String.format("%08x", device));
                done += placement.bytes();
                progress.step("verifying", done, plan.bytes());
            }
            return sums;
        }

        private long ofDevice(DeviceArray array) {
            CRC32C crc = new CRC32C();
            for (long at = 0; at < array.bytes(); at += BYTES) {
                buffer.clear().limit((int) Math.min(BYTES, array.bytes() - at));
                array.region()
                        .buffer()
                        .download(array.region().offset() + at, buffer)
                        .block();
                crc.update(buffer);
            }
            return crc.getValue();
        }

        private static long ofFile(LoadPlan plan, LoadPlan.Placement placement) throws IOException {
            CRC32C crc = new CRC32C();
            plan.contents(placement, crc::update);
            return crc.getValue();
        }
    }
}
