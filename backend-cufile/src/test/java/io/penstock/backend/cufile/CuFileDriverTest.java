// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.report.CuFileConfiguration;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.backend.gpu.file.KeptDriver;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The life of cuFile's driver: opened late, once in a process, with the first one's settings. */
@ExtendWith(FreshFakes.class)
class CuFileDriverTest {

    private static final String OPEN = "cuFileDriverOpen";

    private final FakeControl cufile = Fakes.cufile();

    private long closed() {
        return cufile.calls("cuFileDriverClose");
    }

    @Test
    void itIsOpenedAtTheFirstFileAndStaysOpen() throws IOException {
        Options options = CuFileFake.options(CufilePath.SYNC);
        try (CuFileBench first = CuFileBench.open(options)) {
            DeviceBuffer buffer = first.buffer(4096);
            assertThat(cufile.calls(OPEN)).as("before the first file").isZero();
            try (var second = CuFileBench.backend(options)) {
                StorageFile file = first.file(CuFileBench.bytes(4096));
                BackendFixture.get(second.openFile(file.path())).close();
                first.move(Transfer.read(file.all(), buffer.all()));
                assertThat(cufile.calls(OPEN)).isEqualTo(1);
            }
        }
        assertThat(closed()).isZero();
    }

    @Test
    void itIsOpenedOnceForAllBackendsOfAProcess() throws IOException {
        for (int i = 0; i < 3; i++) {
            try (CuFileBench bench = CuFileBench.open(CufilePath.BATCH)) {
                StorageFile file = bench.file(CuFileBench.bytes(4096));
                bench.move(Transfer.read(file.all(), bench.buffer(4096).all()));
            }
        }
        assertThat(cufile.calls(OPEN)).isEqualTo(1);
        assertThat(closed()).isZero();
    }

    @Test
    void aDriverWithUsersStaysOpenWhenTheJvmExits() throws IOException {
        try (CuFileBench bench = CuFileBench.open(CufilePath.SYNC)) {
            bench.file(CuFileBench.bytes(4096));
            KeptDriver.exit();
            assertThat(closed()).as("while a backend is open").isZero();
        }
        GpuFixture.await(() -> !FileDriver.isUsed(CuFile.API));
    }

    @Test
    void aDriverWithoutUsersIsClosedWhenTheJvmExits() throws IOException {
        try (CuFileBench bench = CuFileBench.open(CufilePath.SYNC)) {
            bench.file(CuFileBench.bytes(4096));
        }
        KeptDriver.exit();
        assertThat(closed()).isEqualTo(1);
        try (CuFileBench late = CuFileBench.open(CufilePath.SYNC)) {
            StorageFile file = late.file(CuFileBench.bytes(4096));
            Transfer read = Transfer.read(file.all(), late.buffer(4096).all());
            assertThat(late.move(read).path()).isEqualTo(TransferPath.STAGED);
            assertThat(late.backend().explain(read).whyNotDirect()).contains("the JVM exits");
        }
        assertThat(cufile.calls(OPEN)).isEqualTo(1);
        Fakes.reset(); // for classes that use the fakes as they find them
    }

    @Test
    void aLaterBackendWithOtherSettingsIsRefusedItWithBoth() throws IOException {
        Options options = CuFileFake.options(CufilePath.SYNC);
        try (CuFileBench first = CuFileBench.open(options)) {
            first.file(CuFileBench.bytes(4096));
        }
        try (CuFileBench second = CuFileBench.open(options.with(CufileOptions.STATISTICS, 2))) {
            StorageFile file = second.file(CuFileBench.bytes(4096));
            Transfer read = Transfer.read(file.all(), second.buffer(4096).all());
            assertThat(second.move(read).path()).isEqualTo(TransferPath.STAGED);
            assertThat(second.backend().explain(read).whyNotDirect())
                    .contains("penstock.cufile.statistics=0", "penstock.cufile.statistics=2");
        }
        assertThat(cufile.calls(OPEN)).isEqualTo(1);
    }

    @Test
    void ifItDoesNotOpenFilesGoByOurStagingBuffers() throws IOException {
        cufile.fail(OPEN, 0, 5007);
        try (CuFileBench bench = CuFileBench.open(CufilePath.SYNC)) {
            StorageFile file = bench.file(CuFileBench.bytes(4096));
            Transfer read = Transfer.read(file.all(), bench.buffer(4096).all());
            assertThat(bench.move(read).path()).isEqualTo(TransferPath.STAGED);
            assertThat(bench.backend().explain(read).whyNotDirect())
                    .contains("cuFileDriverOpen -> CU_FILE_PLATFORM_NOT_SUPPORTED (5007)");
        }
    }

    @Test
    void itsOwnThreadPoolIsSetBeforeItIsOpened() throws IOException {
        Options options = CuFileFake.options(CufilePath.SYNC).with(CufileOptions.OWN_THREADS, 3);
        try (CuFileBench bench = CuFileBench.open(options)) {
            StorageFile file = bench.file(CuFileBench.bytes(4096));
            bench.move(Transfer.read(file.all(), bench.buffer(4096).all()));
            long[] threads = new long[1];
            assertThat(CuFile.error(CuFile.API.getParameterSizeT(2, threads))).isZero();
            assertThat(threads[0]).isEqualTo(3);
            byte[] parallel = new byte[1];
            assertThat(CuFile.error(CuFile.API.getParameterBool(4, parallel))).isZero();
            assertThat(parallel[0]).isEqualTo((byte) 1);
        }
    }

    @Test
    void pollingAndThePoolsAreSetOnceItIsOpen() throws IOException {
        Options options = CuFileFake.options(CufilePath.BATCH)
                .with(CufileOptions.POLL_BYTES, 16L << 10)
                .with(CufileOptions.DIRECT_IO_BYTES, 1L << 20)
                .with(CufileOptions.CACHE_BYTES, (8L << 20) + 1)
                .with(CufileOptions.PINNED_BYTES, 1L << 30);
        cufile.set("nvfs", 1);
        try (CuFileBench bench = CuFileBench.open(options)) {
            byte[] content = CuFileBench.bytes(20 << 20);
            StorageFile file = bench.file(content);
            DriverProperties properties = CuFileFake.driver().properties();
            assertThat(properties.polls()).isTrue();
            assertThat(properties.pollKilobytes()).isEqualTo(16);
            assertThat(properties.maxDirectIoKilobytes()).isEqualTo(1024);
            assertThat(properties.deviceCacheKilobytes()).as("whole blocks").isEqualTo((8 << 10) + 4);
            assertThat(properties.maxPinnedKilobytes()).isEqualTo(1 << 20);
            assertThat(CuFileFake.driver().ignored()).isEmpty();
            // Unaligned, so that it bounces: the fake complains of more entries than the smaller cache has room for.
            DeviceBuffer buffer = bench.buffer(content.length);
            bench.move(Transfer.read(file.region(1, content.length - 1), buffer.region(1, content.length - 1)));
            assertThat(Arrays.mismatch(BackendFixture.content(buffer), content)).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1024", "1048576, 1024", "1048577, 1088", "16777215, 16384", "16777216, 16384"})
    void theMostOfADirectRequestIsInTheStepsOfTheGuide(long asked, long kilobytes) throws IOException {
        cufile.set("nvfs", 1);
        Options options = CuFileFake.options(CufilePath.SYNC).with(CufileOptions.DIRECT_IO_BYTES, asked);
        try (CuFileBench bench = CuFileBench.open(options)) {
            bench.file(CuFileBench.bytes(4096));
            assertThat(CuFileFake.driver().properties().maxDirectIoKilobytes()).isEqualTo(kilobytes);
            assertThat(CuFileFake.driver().ignored()).isEmpty();
        }
    }

    @Test
    void settingsThatAreAcceptedButIgnoredAreNamed() throws IOException {
        Options options = CuFileFake.options(CufilePath.SYNC)
                .with(CufileOptions.POLL_BYTES, 16L << 10)
                .with(CufileOptions.DIRECT_IO_BYTES, 1L << 20)
                .with(CufileOptions.CACHE_BYTES, 8L << 20)
                .with(CufileOptions.PINNED_BYTES, 1L << 30);
        try (CuFileBench bench = CuFileBench.open(options)) { // no nvidia-fs
            bench.file(CuFileBench.bytes(4096));
            assertThat(CuFileFake.driver().ignored())
                    .containsExactly(
                            "penstock.cufile.poll-bytes",
                            "penstock.cufile.direct-io-bytes",
                            "penstock.cufile.cache-bytes",
                            "penstock.cufile.pinned-bytes");
        }
    }

    @Test
    void aLimitThatItDoesNotTakeSendsFilesByOurStagingBuffersAndIsNamed() throws IOException {
        cufile.fail("cuFileDriverSetMaxCacheSize", 0, 5003);
        Options options = CuFileFake.options(CufilePath.SYNC).with(CufileOptions.CACHE_BYTES, 8L << 20);
        try (CuFileBench bench = CuFileBench.open(options)) {
            StorageFile file = bench.file(CuFileBench.bytes(4096));
            Transfer read = Transfer.read(file.all(), bench.buffer(4096).all());
            assertThat(bench.move(read).path()).isEqualTo(TransferPath.STAGED);
            assertThat(bench.backend().explain(read).whyNotDirect())
                    .contains("penstock.cufile.cache-bytes=8192KiB", "cuFileDriverSetMaxCacheSize -> ", "(5003)");
            assertThat(closed()).as("the driver is not left open").isEqualTo(1);
        }
        try (CuFileBench later = CuFileBench.open(CufilePath.SYNC)) {
            StorageFile file = later.file(CuFileBench.bytes(4096));
            Transfer read = Transfer.read(file.all(), later.buffer(4096).all());
            assertThat(later.move(read).path()).isEqualTo(TransferPath.STAGED);
            assertThat(later.backend().explain(read).whyNotDirect())
                    .contains("is not opened twice in a process", "cuFileDriverSetMaxCacheSize -> ");
        }
        assertThat(cufile.calls(OPEN)).isEqualTo(1);
        Fakes.reset(); // for classes that use the fakes as they find them
    }

    @Test
    void aSecondBackendWithOtherSettingsIsRefusedItWithBoth() throws IOException {
        Options options = CuFileFake.options(CufilePath.SYNC);
        try (CuFileBench first = CuFileBench.open(options);
                CuFileBench second = CuFileBench.open(options.with(CufileOptions.STATISTICS, 2))) {
            Path path = first.file(CuFileBench.bytes(4096)).path();
            StorageFile file = second.open(path);
            Transfer read = Transfer.read(file.all(), second.buffer(4096).all());
            assertThat(second.move(read).path()).isEqualTo(TransferPath.STAGED);
            assertThat(second.backend().explain(read).whyNotDirect())
                    .contains("penstock.cufile.statistics=0", "penstock.cufile.statistics=2");
            first.backend().close();
        }
    }

    @Test
    void theReportListsTheLibraryAndItsSettings(@TempDir Path folder) throws IOException {
        CuFile.LIBRARY.load(Fakes.libcufile().toString());
        Path settings = Files.writeString(folder.resolve("cufile.json"), "{ \"logging\": { \"level\": \"ERROR\" } }");
        CuFileConfiguration told =
                CuFileConfiguration.read(Map.of("CUFILE_ENV_PATH_JSON", settings.toString()), settings);
        Path nvidiaFs = Files.createDirectory(folder.resolve("nvidia-fs"));
        List<String> lines = new CuFileLibrary("", told, nvidiaFs).describe();
        assertThat(lines)
                .contains("libcufile: 1.15, " + Fakes.libcufile())
                .contains("cuFile direct: unknown until its driver is open")
                .contains("cuFile's settings:   logging.level = ERROR")
                .contains("cuFile's settings: CUFILE_ENV_PATH_JSON=" + settings);
        assertThat(new CuFileLibrary("", told, folder.resolve("none")).whyNotDirect())
                .isEqualTo("nvidia-fs is not loaded");
        assertThat(new CuFileLibrary("not found", told, nvidiaFs).describe())
                .containsExactly("libcufile: none, not found; staged and mapped paths need none");
        assertThat(cufile.calls(OPEN)).as("a query opens nothing").isZero();
    }
}
