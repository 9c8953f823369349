// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
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
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

/** Penstock: one transfer of a buffer of the GPU. */
abstract class GpuTransfer implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int BLOCK = 4096;

    final StorageFile file;
    final DeviceBuffer buffer;
    private final Backend backend;
    private String path = "";

    private GpuTransfer(Options options, Path path, long bytes, FileOption... opened) {
        backend = CudaDevice.FIRST.open(options);
        buffer = backend.allocate(bytes).block();
        file = backend.openFile(path, opened).block();
    }

    /** Submits the transfer; an operation is so many bytes. */
    final Measure measure(Transfer transfer, int bytesEach) throws Exception {
        return Measure.of(
                () -> {
                    Completion completion = backend.submit(transfer).block(LIMIT);
                    path = completion.path() + " " + completion.evidence() + " (" + completion.reason() + ")";
                    return completion.bytes() / bytesEach;
                },
                GpuMemoryCheck::cpuNanos);
    }

    @Override
    public String log() {
        return path;
    }

    @Override
    public void close() {
        file.close();
        buffer.close();
        backend.close();
    }

    /** Gathers random blocks of a file. */
    static final class Gather extends GpuTransfer {

        private final long[] offsets;

        Gather(Options options, Path hot, Settings.Sizes sizes, FileOption... opened) {
            super(options, hot, (long) sizes.blocks() * BLOCK, opened);
            offsets = new Random(42)
                    .longs(sizes.blocks(), 0, sizes.hotBytes() / BLOCK)
                    .map(block -> block * BLOCK)
                    .toArray();
        }

        @Override
        public Measure run(long nanos) throws Exception {
            CudaDevice.FIRST.poison(buffer.nativeHandle(), buffer.length());
            return measure(Transfer.gather(file, offsets, BLOCK, buffer.all()), BLOCK);
        }

        @Override
        public void verify() throws IOException {
            Device.none(GpuMemoryCheck.gatherDifferences(buffer.nativeHandle(), BLOCK, offsets));
        }
    }

    /** Writes to a file, past the page cache. */
    static final class Write extends GpuTransfer {

        private static final int SAMPLES = 512;

        private final Path written;
        private long base = 1L << 41; // the bytes of each run differ

        Write(Options options, Path written, long bytes) {
            super(options, written, bytes, FileOption.WRITE, FileOption.CREATE, FileOption.DIRECT);
            this.written = written;
        }

        @Override
        public Measure run(long nanos) throws Exception {
            base += 1L << 40;
            GpuMemoryCheck.fill(0, buffer.nativeHandle(), buffer.length(), base);
            return measure(Transfer.write(buffer.all(), file.region(0, buffer.length())), 1);
        }

        @Override
        public void verify() throws IOException {
            ByteBuffer block = ByteBuffer.allocateDirect(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
            long step = (buffer.length() / BLOCK / SAMPLES + 1) * BLOCK;
            try (FileChannel channel = FileChannel.open(written)) {
                for (long at = 0; at < buffer.length(); at += step) {
                    channel.read(block.clear(), at);
                    TestFile.verify(block, base + at);
                }
            }
        }
    }
}
