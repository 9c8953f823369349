// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.backend.cufile.report.DriverStatistics;
import io.penstock.backend.gpu.file.StorageKind;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is called direct, by what proof, and what is not. */
@ExtendWith(FreshFakes.class)
class DirectPathTest {

    private final FakeControl cufile = Fakes.cufile();

    private Completion readBlocks(CuFileBench bench) throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(8192));
        DeviceBuffer buffer = bench.buffer(8192);
        return bench.move(Transfer.read(file.all(), buffer.all()));
    }

    @ParameterizedTest
    @EnumSource(names = {"SYNC", "BATCH", "STREAM", "DIRECT"})
    void everyModeIsDirectWhereItIsProven(CufilePath variant) throws IOException {
        cufile.set("nvfs", 1);
        try (CuFileBench bench = CuFileBench.open(variant)) {
            assertThat(readBlocks(bench).path()).isEqualTo(TransferPath.DIRECT);
        }
    }

    @Test
    void ifCuFileMayFallBackByItselfTheEvidenceIsInferred() throws IOException {
        cufile.set("nvfs", 1);
        try (CuFileBench bench = CuFileBench.open(CufilePath.SYNC)) {
            assertThat(readBlocks(bench).evidence()).isEqualTo(Evidence.INFERRED);
        }
    }

    @Test
    void ifCuFileMustNotFallBackASuccessIsObserved() throws IOException {
        cufile.set("nvfs", 1);
        cufile.set("compat", 0);
        try (CuFileBench bench = CuFileBench.open(CufilePath.SYNC)) {
            assertThat(readBlocks(bench).evidence()).isEqualTo(Evidence.OBSERVED);
        }
    }

    @Test
    void countersOfTheThirdLevelAreProofToo() throws IOException {
        cufile.set("nvfs", 1);
        Options counted = CuFileFake.options(CufilePath.SYNC).with(CufileOptions.STATISTICS, 3);
        try (CuFileBench bench = CuFileBench.open(counted)) {
            assertThat(readBlocks(bench).evidence()).isEqualTo(Evidence.OBSERVED);
            DriverStatistics statistics = DriverStatistics.read();
            assertThat(statistics.level()).isEqualTo(3);
            assertThat(statistics.direct()).isPositive();
            assertThat(statistics.posix()).isZero();
            assertThat(statistics.counters().get("read_bytes")).isEqualTo(8192);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 4096, 0", "0, 4095, 0", "0, 4096, 256", "4096, 100, 0"})
    void partialBlocksAreNotReportedAsDirectAndArrive(int offset, int length, int at) throws IOException {
        cufile.set("nvfs", 1);
        try (CuFileBench bench = CuFileBench.open(CufilePath.SYNC)) {
            byte[] content = CuFileBench.bytes(20_000);
            StorageFile file = bench.file(content);
            DeviceBuffer buffer = bench.buffer(20_000);
            Transfer read = Transfer.read(file.region(offset, length), buffer.region(at, length));
            Completion done = bench.move(read);
            assertThat(done.path()).isEqualTo(TransferPath.COMPAT);
            assertThat(done.reason()).contains("copies through its own bounce buffers on the GPU");
            assertThat(BackendFixture.content(buffer))
                    .containsSequence(Arrays.copyOfRange(content, offset, offset + length));
            assertThatThrownBy(() -> bench.move(read.requireDirect()))
                    .isInstanceOfSatisfying(
                            PermanentStorageException.class,
                            e -> assertThat(e.outcome()).isEqualTo(Outcome.NOT_STARTED))
                    .hasMessageContaining("its edges are not multiples of 4096 bytes");
        }
    }

    @Test
    void aDiskThatTheDriverDoesNotReachIsNotDirectAndIsNamed() throws IOException {
        cufile.set("nvfs", 1);
        try (CuFileBench bench = CuFileBench.open(CufilePath.SYNC);
                Backend backend = new CufileProvider()
                        .open(
                                CuFileFake.options(CufilePath.SYNC).resolve(Backends.options()),
                                path -> StorageKind.of("tmpfs", "shm", path))) {
            StorageFile file = BackendFixture.get(backend.openFile(bench.path(CuFileBench.bytes(4096))));
            DeviceBuffer buffer = BackendFixture.get(backend.allocate(4096));
            Transfer read = Transfer.read(file.all(), buffer.all()).requireDirect();
            assertThatThrownBy(() -> BackendFixture.get(backend.submit(read)))
                    .hasMessageContaining("it is unknown whether cuFile reaches tmpfs on shm");
            assertThat(cufile.calls("cuFileRead")).isZero();
        }
    }

    @Test
    void byDefaultEligibleTransfersAreDirectAndTheRestIsStaged() throws IOException {
        cufile.set("nvfs", 1);
        byte[] content = CuFileBench.bytes(20_000);
        Path from = Files.write(Files.createTempFile(Files.createDirectories(Path.of("target")), "from", ""), content);
        Path to = from.resolveSibling(from.getFileName() + "-copied");
        try (Backend backend = new CufileProvider()
                .open(CuFileFake.options(CufilePath.AUTO).resolve(Backends.options()), new CuFileFake.WithNvidiaFs())) {
            StorageFile source = BackendFixture.get(backend.openFile(from));
            StorageFile copy =
                    BackendFixture.get(backend.openFile(to, FileOption.READ, FileOption.WRITE, FileOption.CREATE));
            DeviceBuffer buffer = BackendFixture.get(backend.allocate(20_480));
            Transfer blocks = Transfer.read(source.region(0, 16_384), buffer.region(0, 16_384));
            assertThat(backend.explain(blocks).path()).isEqualTo(TransferPath.DIRECT);
            assertThat(BackendFixture.get(backend.submit(blocks.requireDirect()))
                            .path())
                    .isEqualTo(TransferPath.DIRECT);
            Completion tail = BackendFixture.get(
                    backend.submit(Transfer.read(source.region(16_384, 3616), buffer.region(16_384, 3616))));
            assertThat(tail.path()).isEqualTo(TransferPath.STAGED);
            assertThat(BackendFixture.get(
                                    backend.submit(Transfer.write(buffer.region(0, 16_384), copy.region(0, 16_384))))
                            .path())
                    .isEqualTo(TransferPath.DIRECT);
            BackendFixture.get(backend.submit(Transfer.write(buffer.region(16_384, 3616), copy.region(16_384, 3616))));
            assertThat(to).hasBinaryContent(content);
            assertThat(cufile.calls("cuFileRead")).isEqualTo(1);
            assertThat(cufile.calls("cuFileWrite")).isEqualTo(1);
        } finally {
            Files.deleteIfExists(from);
            Files.deleteIfExists(to);
        }
        CuFileLeft.assertNothing();
    }

    @Test
    void manySmallBlocksArePackedIntoStagingBuffersAndLargeOnesGoDirectly() throws IOException {
        cufile.set("nvfs", 1);
        byte[] content = CuFileBench.bytes(256 << 10);
        try (CuFileBench bench = CuFileBench.open(CuFileFake.options(CufilePath.AUTO), new CuFileFake.WithNvidiaFs())) {
            StorageFile file = bench.file(content);
            DeviceBuffer buffer = bench.buffer(content.length);
            long[] backwards = LongStream.range(0, 64).map(i -> (63 - i) * 4096).toArray();
            Transfer gather = Transfer.gather(file, backwards, 4096, buffer.all());
            assertThat(bench.move(gather).path()).isEqualTo(TransferPath.STAGED);
            assertThat(cufile.calls("cuFileRead")).isZero();
            byte[] gathered = BackendFixture.content(buffer);
            for (int i = 0; i < 64; i++) {
                assertThat(Arrays.mismatch(
                                gathered, i * 4096, (i + 1) * 4096, content, (63 - i) * 4096, (64 - i) * 4096))
                        .isEqualTo(-1);
            }
            assertThat(bench.backend().explain(gather).whyNotDirect())
                    .contains("less than 16384 bytes", "penstock.cufile.direct-bytes");
            Transfer small = Transfer.read(file.region(0, 12_288), buffer.region(0, 12_288));
            assertThat(bench.move(small).path()).isEqualTo(TransferPath.STAGED);
            assertThat(bench.move(small.requireDirect()).path()).isEqualTo(TransferPath.DIRECT);
            Transfer enough = Transfer.read(file.region(0, 16_384), buffer.region(0, 16_384));
            assertThat(bench.move(enough).path()).isEqualTo(TransferPath.DIRECT);
            Transfer tail = enough.and(file.region(32_768, 4096), buffer.region(32_768, 4096));
            assertThat(bench.move(tail).path()).as("one part is small").isEqualTo(TransferPath.STAGED);
            Transfer large = Transfer.gather(file, new long[] {65_536, 0}, 65_536, buffer.region(0, 131_072));
            assertThat(bench.move(large).path()).isEqualTo(TransferPath.DIRECT);
            assertThat(cufile.calls("cuFileRead")).isEqualTo(4);
        }
    }

    @Test
    void theDirectPathIsUsedForSmallBlocksTooIfItIsSelected() throws IOException {
        cufile.set("nvfs", 1);
        try (CuFileBench bench = CuFileBench.open(CufilePath.DIRECT)) {
            StorageFile file = bench.file(CuFileBench.bytes(16_384));
            Transfer gather = Transfer.gather(
                    file, new long[] {8192, 0}, 4096, bench.buffer(8192).all());
            assertThat(bench.move(gather).path()).isEqualTo(TransferPath.DIRECT);
        }
    }

    @Test
    void withoutADirectPathTheDriverIsNotEvenOpenedByItself() throws IOException {
        try (CuFileBench bench = CuFileBench.open(CufilePath.AUTO)) {
            Completion read = readBlocks(bench);
            assertThat(read.path()).isEqualTo(TransferPath.STAGED);
            assertThat(read.reason()).contains("nvidia-fs is not loaded");
            assertThat(cufile.calls("cuFileDriverOpen")).isZero();
        }
    }
}
