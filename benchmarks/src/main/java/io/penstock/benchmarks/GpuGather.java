// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import java.io.IOException;
import java.time.Duration;
import java.util.Random;

/** Penstock: one transfer gathers random blocks of a file into one buffer of the GPU. */
final class GpuGather implements Contender {

    static final int BLOCK = 4096;

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final String name;
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final long[] offsets;
    private String variant = "";

    GpuGather(String name, GpuBench bench, Options options, FileOption... opened) {
        this.name = name;
        Settings.Sizes sizes = bench.sizes();
        backend = Backends.open("cufile", options);
        file = backend.openFile(bench.hot(), opened).block();
        buffer = backend.allocate((long) sizes.blocks() * BLOCK).block();
        offsets = new Random(42)
                .longs(sizes.blocks(), 0, sizes.hotBytes() / BLOCK)
                .map(block -> block * BLOCK)
                .toArray();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        GpuMemoryCheck.fill(buffer.nativeHandle(), buffer.length(), GpuBench.POISON);
        return Measure.of(
                () -> {
                    Completion completion = backend.submit(Transfer.gather(file, offsets, BLOCK, buffer.all()))
                            .block(LIMIT);
                    variant = completion.path() + " " + completion.evidence() + " (" + completion.reason() + ")";
                    return completion.bytes() / BLOCK;
                },
                GpuMemoryCheck::cpuNanos);
    }

    @Override
    public void verify() throws IOException {
        long bad = GpuMemoryCheck.gatherDifferences(buffer.nativeHandle(), BLOCK, offsets);
        if (bad != 0) {
            throw new IOException(name + ": " + bad + " wrong words");
        }
    }

    @Override
    public void close() {
        System.out.println(name + ": " + variant);
        file.close();
        buffer.close();
        backend.close();
    }
}
