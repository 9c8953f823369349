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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.time.Duration;

/** Penstock: one transfer writes a buffer of the GPU to a file, past the page cache. */
final class GpuWrite implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int BLOCK = 4096;
    private static final int SAMPLES = 512;

    private final String name;
    private final GpuBench bench;
    private final Backend backend;
    private final DeviceBuffer buffer;
    private final StorageFile file;
    private long base = 1L << 41; // the bytes of each run differ
    private String variant = "";

    GpuWrite(String name, GpuBench bench, Options options) {
        this.name = name;
        this.bench = bench;
        backend = Backends.open("cufile", options);
        buffer = backend.allocate(bench.sizes().diskBytes()).block();
        file = backend.openFile(bench.written(), FileOption.WRITE, FileOption.CREATE, FileOption.DIRECT)
                .block();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        base += 1L << 40;
        GpuMemoryCheck.fill(buffer.nativeHandle(), buffer.length(), base);
        return Measure.of(
                () -> {
                    Completion completion = backend.submit(
                                    Transfer.write(buffer.all(), file.region(0, buffer.length())))
                            .block(LIMIT);
                    variant = completion.path() + " " + completion.evidence() + " (" + completion.reason() + ")";
                    return completion.bytes();
                },
                GpuMemoryCheck::cpuNanos);
    }

    @Override
    public void verify() throws IOException {
        ByteBuffer block = ByteBuffer.allocateDirect(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
        long step = (buffer.length() / BLOCK / SAMPLES + 1) * BLOCK;
        try (FileChannel channel = FileChannel.open(bench.written())) {
            for (long at = 0; at < buffer.length(); at += step) {
                channel.read(block.clear(), at);
                TestFile.verify(block, base + at, name);
            }
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
