// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.paths.ContextChoice;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.backend.cufile.report.DriverStatistics;
import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.backend.gpu.file.FileHandles;
import io.penstock.backend.gpu.file.RegisteredMemory;
import io.penstock.engine.kit.LiveObjects;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

/**
 * Settings on the machine's own libcufile: its thread pool, registered memory, sizes that are known late, its
 * counters, its setters. {@code .ci/gpu run record library} runs each in a process of its own.
 */
@Tag("gpu") // in a JVM of its own: a process loads one libcuda
class GpuLibraryTest {

    private static final int BYTES = (40 << 20) + 4096;
    private static final byte[] CONTENT = GpuFixture.random(BYTES, 7);

    @TempDir
    Path folder;

    private GpuFixture gpu;
    private Backend backend;
    private StorageFile file;

    @BeforeAll
    static void thereIsAGpu() {
        GpuSubject.require();
    }

    @AfterEach
    void nothingIsLeft() {
        if (gpu != null) {
            gpu.close();
            GpuFixture.await(() -> !FileDriver.isUsed(CuFile.API));
            assertThat(RegisteredMemory.count()).isZero();
            assertThat(LiveObjects.count(FileHandles.class)).isZero();
        }
    }

    private static Options options(CufilePath variant) {
        return Options.none().with(CufileOptions.PATH, variant);
    }

    private void open(Options options) {
        gpu = new GpuFixture(folder);
        backend = gpu.keep(new CufileProvider().open(options.resolve(Backends.options())));
        file = gpu.open(backend, gpu.file("data", CONTENT), FileOption.READ, FileOption.WRITE);
    }

    /** Reads the file, writes it elsewhere and reads that; all by cuFile. */
    private void thereAndBack() {
        DeviceBuffer buffer = gpu.buffer(backend, BYTES);
        Completion read = GpuFixture.move(backend, Transfer.read(file.all(), buffer.all()));
        assertThat(read.bytes()).isEqualTo(BYTES);
        assertThat(read.path()).as(read.reason()).isIn(TransferPath.COMPAT, TransferPath.DIRECT);
        assertThat(Arrays.mismatch(GpuFixture.content(buffer), CONTENT)).isEqualTo(-1);
        StorageFile copy =
                gpu.open(backend, folder.resolve("copy"), FileOption.READ, FileOption.WRITE, FileOption.CREATE);
        GpuFixture.move(backend, Transfer.write(buffer.all(), copy.region(0, BYTES)));
        DeviceBuffer again = gpu.buffer(backend, BYTES);
        GpuFixture.move(backend, Transfer.read(copy.all(), again.all()));
        assertThat(Arrays.mismatch(GpuFixture.content(again), CONTENT)).isEqualTo(-1);
    }

    /** {@code penstock.cufile.own-threads}. */
    @Nested
    class OwnThreads {
        @Test
        void libcufilesOwnPoolMovesTheBytes() {
            open(options(CufilePath.SYNC)
                    .with(CufileOptions.OWN_THREADS, 4)
                    .with(CufileOptions.SEGMENT_BYTES, 32L << 20)); // above min_io_threshold_size_kb
            thereAndBack();
            long[] threads = new long[1];
            assertThat(CuFile.error(CuFile.API.getParameterSizeT(2, threads))).isZero();
            assertThat(threads[0]).isEqualTo(4);
            byte[] parallel = new byte[1];
            assertThat(CuFile.error(CuFile.API.getParameterBool(4, parallel))).isZero();
            assertThat(parallel[0]).isEqualTo((byte) 1);
            System.out.println("own-threads=4: " + CuFileFake.driver().properties());
        }
    }

    /** {@code penstock.cufile.register=always}. */
    @Nested
    class Registered {
        @ParameterizedTest
        @EnumSource(names = {"SYNC", "BATCH", "STREAM"})
        void registeredMemoryIsReadAndWrittenWhereItBelongs(CufilePath variant) {
            open(options(variant).with(CufileOptions.REGISTER, Registering.ALWAYS));
            DeviceBuffer before = gpu.buffer(backend, 4096);
            assertThat(RegisteredMemory.count()).isPositive();
            thereAndBack();
            // Parts of one buffer, several at once: the pattern in which libcufile mixes up offsets on streams.
            DeviceBuffer buffer = gpu.buffer(backend, BYTES);
            int part = 1 << 20;
            List<Transfer> parts = IntStream.range(0, BYTES / part)
                    .mapToObj(i -> (long) i * part)
                    .map(at -> Transfer.read(file.region(at, part), buffer.region(at, part)))
                    .toList();
            backend.submit(Flux.fromIterable(parts)).blockLast(GpuFixture.LONG);
            int whole = BYTES / part * part;
            assertThat(Arrays.mismatch(GpuFixture.content(buffer), 0, whole, CONTENT, 0, whole))
                    .isEqualTo(-1);
            GpuFixture.move(backend, Transfer.read(file.region(1, 4095), before.region(1, 4095)));
            assertThat(Arrays.mismatch(GpuFixture.content(before), 1, 4096, CONTENT, 1, 4096))
                    .isEqualTo(-1);
            System.out.println("register=always by " + variant + ": " + RegisteredMemory.registeredBytes()
                    + " bytes in " + RegisteredMemory.count() + " ranges");
        }
    }

    /** {@link LateSize}. */
    @Nested
    class Late {
        private static final int FOUND = 0x1010;
        private static final int MOST = 4 << 20;

        private final long[] stream = new long[1];

        /** Enqueues work that lasts, and behind it the size: 0 until then. */
        private void work(GpuContext context, LateSize size) {
            DeviceBuffer large = gpu.buffer(backend, 512 << 20);
            int[] results = new int[2];
            context.run("work before the transfer", () -> {
                results[0] = Cuda.DRIVER.memsetD8Async(large.nativeHandle(), (byte) 1, 512 << 20, stream[0]);
                results[1] = Cuda.DRIVER.memsetD8Async(size.nativeHandle(), (byte) 0x10, 2, stream[0]);
                return context;
            });
            assertThat(results).containsOnly(0);
        }

        @ParameterizedTest
        @ValueSource(booleans = {true, false})
        void aSizeThatTheStreamWritesBeforeTheTransferIsTheOneThatIsMoved(boolean read) throws IOException {
            open(options(CufilePath.STREAM));
            DeviceBuffer buffer = gpu.buffer(backend, MOST);
            byte[] bytes = read ? new byte[MOST] : Arrays.copyOf(CONTENT, MOST);
            GpuFixture.get(buffer.upload(0, ByteBuffer.wrap(bytes)));
            StorageFile written =
                    gpu.open(backend, folder.resolve("late"), FileOption.READ, FileOption.WRITE, FileOption.CREATE);
            GpuContext context = ContextChoice.open(options(CufilePath.STREAM).resolve(Backends.options()));
            context.run("a stream", () -> Cuda.DRIVER.streamCreate(stream, Cuda.STREAM_NON_BLOCKING));
            CudaStream carries = CudaStream.of(stream[0]);
            LateSize size = carries.lateSize();
            work(context, size);
            Transfer transfer = read
                    ? Transfer.read(file.region(0, MOST), buffer.all())
                    : Transfer.write(buffer.all(), written.region(0, MOST));
            assertThat(GpuFixture.move(backend, transfer.on(carries.sized(size)))
                            .bytes())
                    .isEqualTo(FOUND);
            byte[] moved = read ? GpuFixture.content(buffer) : Files.readAllBytes(written.path());
            assertThat(Arrays.mismatch(moved, 0, FOUND, CONTENT, 0, FOUND)).isEqualTo(-1);
            assertThat(moved).hasSize(read ? MOST : FOUND);
            size.close();
            context.run("end of the stream", () -> {
                Cuda.DRIVER.streamSynchronize(stream[0]);
                return Cuda.DRIVER.streamDestroy(stream[0]);
            });
            context.leave();
        }
    }

    private void assertCounts(int level) {
        open(options(CufilePath.SYNC).with(CufileOptions.STATISTICS, level));
        thereAndBack();
        DriverStatistics counted = DriverStatistics.read();
        counted.describe().forEach(line -> System.out.println("level " + level + ": " + line));
        assertThat(counted.level()).isEqualTo(level);
        assertThat(counted.counters().get("read_ops_ok")).isPositive();
        assertThat(counted.counters().get("read_bytes")).isGreaterThanOrEqualTo(2L * BYTES);
        assertThat(counted.counters().get("write_bytes")).isGreaterThanOrEqualTo((long) BYTES);
        assertThat(counted.counters().get("hdl_register_ops_ok")).isPositive();
        if (level >= 2) {
            assertThat(counted.readSizes()).anyMatch(count -> count > 0);
            assertThat(counted.writeSizes()).anyMatch(count -> count > 0);
        }
        if (level >= 3) {
            assertThat(counted.gpus()).isNotEmpty();
            assertThat(counted.direct() + counted.posix()).isPositive();
        }
    }

    /** {@code penstock.cufile.statistics=1}, in a process of its own, as each setting of the driver. */
    @Nested
    class Statistics1 {
        @Test
        void whatWasMovedIsCounted() {
            assertCounts(1);
        }
    }

    /** {@code penstock.cufile.statistics=2}. */
    @Nested
    class Statistics2 {
        @Test
        void whatWasMovedIsCounted() {
            assertCounts(2);
        }
    }

    /** {@code penstock.cufile.statistics=3}. */
    @Nested
    class Statistics3 {
        @Test
        void whatWasMovedIsCounted() {
            assertCounts(3);
        }

        @Test
        void batchesAreCountedToo() {
            open(options(CufilePath.BATCH).with(CufileOptions.STATISTICS, 3));
            thereAndBack();
            DriverStatistics counted = DriverStatistics.read();
            counted.describe().forEach(line -> System.out.println("batches, level 3: " + line));
            assertThat(counted.counters().get("batch_submit_ops_ok")).isPositive();
            assertThat(counted.counters().get("batch_read_bytes")).isPositive();
        }
    }

    /** {@code penstock.cufile.poll-bytes, direct-io-bytes, cache-bytes, pinned-bytes}. */
    @Nested
    class Setters {
        @Test
        void everySettingIsReportedByTheDriverOrNamedAsIgnored() {
            open(options(CufilePath.SYNC)
                    .with(CufileOptions.POLL_BYTES, 8L << 10)
                    .with(CufileOptions.DIRECT_IO_BYTES, 8L << 20)
                    .with(CufileOptions.CACHE_BYTES, 64L << 20)
                    .with(CufileOptions.PINNED_BYTES, 1L << 30));
            thereAndBack();
            DriverProperties properties = CuFileFake.driver().properties();
            System.out.println("setters: " + properties);
            if (!properties.hasModule()) { // which libcufile needs for any of them
                assertThat(CuFileFake.driver().ignored()).hasSize(4);
                return;
            }
            assertThat(CuFileFake.driver().ignored()).isEmpty();
            assertThat(properties.polls()).isTrue();
            assertThat(properties.pollKilobytes()).isEqualTo(8);
            assertThat(properties.maxDirectIoKilobytes()).isEqualTo(8 << 10);
            assertThat(properties.deviceCacheKilobytes()).isEqualTo(64 << 10);
            assertThat(properties.maxPinnedKilobytes()).isEqualTo(1 << 20);
        }
    }
}
