// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cli.testing.CommandLineRun;
import io.penstock.cli.testing.GpuFakes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BenchCommandTest {

    @TempDir
    Path folder;

    @AfterEach
    void forgetFakes() {
        GpuFakes.forget();
    }

    private static CommandLineRun bench(Object... arguments) {
        List<Object> all = new ArrayList<>(List.of("bench", "--backend", "host", "--warm-up", "0"));
        if (!List.of(arguments).contains("--sweep")) {
            all.addAll(List.of("--time", "0.05"));
        }
        all.addAll(List.of(arguments));
        return CommandLineRun.of(all.toArray());
    }

    private Path file(int bytes) throws IOException {
        return Files.write(folder.resolve("file"), new byte[bytes]);
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    /** Names of files may have any characters, and a terminal acts on some. */
    @Test
    @DisabledOnOs(OS.WINDOWS)
    void noNameReachesTheTerminalWithControlCharacters() throws IOException {
        Path hostile = folder.resolve("a\033]0;title\007b\nc");
        CommandLineRun absent = bench(hostile);
        assertThat(absent.err()).contains("there is no file ").contains("a?]0;title?b?c");
        Files.write(hostile, new byte[65_536]);
        CommandLineRun run = bench(hostile, "--bs", "4KiB");
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("a?]0;title?b?c, blocks of 4KiB");
        CommandLineRun copy = CommandLineRun.of("copy", "--backend", "host", hostile, folder.resolve("d\007e"));
        assertThat(copy.out()).contains("d?e, path ");
    }

    @Test
    void aReadReportsRateLatencyProcessorPathAndCache() throws IOException {
        CommandLineRun run = bench(file(300_000), "--bs", "64KiB", "--depth", "2", "--verify");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .containsPattern(
                        "read of .*file, blocks of 64KiB, 2 in flight, 0\\.\\d s: \\d+\\.\\d+ [GM]B/s, [\\d,]+/s")
                .containsPattern("latency +p50 .*, p99 .*, max \\d")
                .containsPattern("processor \\d+\\.\\d+ s per GiB")
                .containsPattern("path +HOST \\(observed.*, backend host")
                .contains("cache ")
                .contains("verified  2 blocks");
    }

    @Test
    void jsonHasTheSame() throws IOException {
        CommandLineRun run = bench(file(100_000), "--bs", "4k", "--rw", "randread", "--json");
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .contains(
                        "\"rw\": \"randread\"", "\"blockBytes\": 4096", "\"usedBytes\": 98304", "\"paths\": [\"HOST\"]")
                .containsPattern("\"bytesPerSecond\": [1-9]\\d*,")
                .containsPattern("\"p999Nanos\": [1-9]\\d*,");
    }

    @Test
    void aWriteMakesANewFileThatStays() throws IOException {
        Path created = folder.resolve("new");
        CommandLineRun run = bench(created, "--rw", "write", "--size", "1MiB", "--bs", "64KiB", "--verify");
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).containsPattern("sync +\\d+\\.\\d+ s; with it ").contains("verified");
        assertThat(created).hasSize(1 << 20);
        assertThat(files()).containsExactly(created);
    }

    @Test
    void anExistingFileIsOverwrittenByForceOnly() throws IOException {
        Path file = file(100_000);
        CommandLineRun refused = bench(file, "--rw", "randwrite", "--bs", "4k");
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.complaints()).containsExactly("penstock: " + file + " exists; --force overwrites its bytes");
        assertThat(file).hasBinaryContent(new byte[100_000]);
        CommandLineRun forced = bench(file, "--rw", "write", "--bs", "4k", "--force");
        assertThat(forced.code()).isZero();
        assertThat(Files.readAllBytes(file)).hasSize(100_000).isNotEqualTo(new byte[100_000]);
    }

    @Test
    void aBlockDeviceIsMeasuredInItsWholeLength() throws Exception {
        Path image = file(1 << 20);
        try (LoopDevice device = LoopDevice.of(image)) {
            CommandLineRun read = bench(device.path(), "--bs", "4k", "--verify", "--json");
            assertThat(read.err()).isEmpty();
            assertThat(read.out()).contains("\"usedBytes\": 1048576,", "\"verifiedBlocks\": 32,");
            assertThat(bench(device.path(), "--rw", "write").err()).contains("exists; --force overwrites its bytes");
            CommandLineRun written = bench(device.path(), "--bs", "4k", "--rw", "write", "--force", "--verify");
            assertThat(written.err()).isEmpty();
            assertThat(written.out()).contains("verified  32 blocks");
        }
        assertThat(Files.readAllBytes(image)).hasSize(1 << 20).isNotEqualTo(new byte[1 << 20]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "pool"})
    void aFileWithoutALengthIsRefused(String io) {
        assumeTrue(Files.exists(Path.of("/dev/zero")), "there is no /dev/zero");
        CommandLineRun run = bench("/dev/zero", "--bs", "1", "--option", "penstock.host.io=" + io);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("/dev/zero").contains("neither a regular file nor a block device");
    }

    @Test
    void blocksOfAControllerAreLeftToTheBackendThatNamesThem() {
        List<Object> command = List.of("bench", "--backend", "nvme", "0000:04:00.0/1");
        assertThat(CommandLineRun.of(command.toArray()).err())
                .contains("penstock.nvme.device", "must be set")
                .doesNotContain("there is no file 0000:04:00.0/1");
        assertThat(CommandLineRun.of(with(command, "--rw", "write")).complaints())
                .containsExactly("penstock: 0000:04:00.0/1 exists; --force overwrites its bytes");
        assertThat(CommandLineRun.of(with(command, "--verify")).err())
                .contains("--verify needs a FILE that the operating system can read");
        assertMisuse(CommandLineRun.of(with(command, "--sweep")), "--sweep tries options of host I/O");
    }

    private static Object[] with(List<Object> command, Object... more) {
        return Stream.concat(command.stream(), Stream.of(more)).toArray();
    }

    @Test
    void aBrokenLinkIsDescribed() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("absent"));
        assertThat(bench(link).complaints())
                .containsExactly("penstock: " + link + " is a symbolic link to " + folder.resolve("absent")
                        + ", which does not exist");
    }

    @Test
    void whatCannotBeIsRefusedAndLeavesNothing() throws IOException {
        Path created = folder.resolve("new");
        assertThat(bench(created).complaints()).containsExactly("penstock: there is no file " + created);
        assertThat(bench(created, "--rw", "write", "--size", "1024T").err()).contains("disk full: ");
        assertThat(bench(created, "--rw", "write", "--size", "1k", "--bs", "2k").err())
                .contains("--bs must be at most");
        assertThat(bench(created, "--rw", "write", "--size", "1MiB", "--path", "direct")
                        .err())
                .contains("not DIRECT");
        assertThat(bench(created, "--rw", "write", "--option", "penstock.queue.dpeth=1")
                        .err())
                .contains("--option sets penstock.queue.dpeth, which is not an option");
        assertThat(bench(folder).err()).contains("is a directory");
        assertThat(files()).isEmpty();
        Path small = file(100);
        assertMisuse(bench(small, "--depth", "0"), "--depth must be");
        assertMisuse(bench(small, "--bs", "101"), "--bs must be at most");
        assertMisuse(bench(small, "--size", "101"), "--size must be at most");
    }

    @Test
    void aSmallFileIsOneBlockAndAnEmptyOneIsRefused() throws IOException {
        assertThat(bench(file(1000)).out()).contains("blocks of 1000, ");
        CommandLineRun empty = bench(file(0));
        assertThat(empty.code()).isEqualTo(1);
        assertThat(empty.complaints()).containsExactly("penstock: " + folder.resolve("file") + " is empty");
    }

    private static void assertMisuse(CommandLineRun run, String complaint) {
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).startsWith("penstock: " + complaint).contains("see: ./penstock bench --help");
    }

    @Test
    void optionsOfTheLibraryAreSet() throws IOException {
        Path file = file(100_000);
        assertThat(bench(file, "--bs", "4k", "--queues", "3", "--option", "penstock.queue.depth=2")
                        .code())
                .isZero();
        assertThat(bench(file, "--bs", "4k", "--queues", "65").err()).contains("--queues sets penstock.host.queues=65");
    }

    @Test
    void aSweepDrawsWhatItMeasuresAndWritesOptionsThatTheLibraryReads() throws IOException {
        Path file = file(100_000);
        Path out = folder.resolve("found");
        CommandLineRun run = bench(file, "--sweep", "--time", "0.004", "--out", out);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .containsPattern("64KiB +64 +\\d+\\.\\d\\d +[█#]+")
                .containsPattern(
                        "penstock.host.queues +penstock.segment-bytes +GB/s\\R +default +default +\\d+\\.\\d\\d +[█#]*\\R")
                .containsPattern("best: transfers of 64KiB, \\d+ in flight: .*, path HOST, backend host")
                .containsPattern("\\d\\.\\d\\d times the defaults' rate");
        Path properties = folder.resolve("found.properties");
        assertThat(run.out()).contains("wrote " + properties);
        assertThat(properties).content().contains("# best: transfers of 64KiB, ", "penstock.config");
        if (run.err().isEmpty()) { // a Java that draws text
            assertThat(ImageIO.read(folder.resolve("found.png").toFile()).getWidth())
                    .isGreaterThan(600);
        }
        System.setProperty("penstock.config", properties.toString());
        try {
            assertThat(bench(file, "--bs", "4k").code()).isZero();
        } finally {
            System.clearProperty("penstock.config");
        }
        assertThat(bench(file, "--sweep", "--time", "0.004", "--out", out).err())
                .contains(properties + " exists; --force replaces it");
    }

    @Test
    void aSweepWritesNoFileUnlessItIsNamed() throws IOException {
        Path file = file(100_000);
        assertThat(bench(file, "--sweep", "--time", "0.004").code()).isZero();
        assertThat(files()).containsExactly(file);
    }

    @Test
    void whatASweepWouldIgnoreIsRefused() throws IOException {
        Path file = file(100_000);
        String chosen = "--sweep tries sizes and depths itself and verifies nothing: omit ";
        Path out = folder.resolve("found");
        assertMisuse(bench(file, "--sweep", "--time", "0.004", "--out", out, "--bs", "4k"), chosen + "--bs");
        assertMisuse(bench(file, "--sweep", "--time", "0.004", "--out", out, "--depth", "1"), chosen + "--depth");
        assertMisuse(bench(file, "--sweep", "--time", "0.004", "--out", out, "--verify"), chosen + "--verify");
        assertMisuse(bench(file, "--bs", "4k", "--out", out), "--out needs --sweep");
        assertThat(files()).containsExactly(file);
    }

    @Test
    void aSweepThatCannotBeWrittenIsRefusedBeforeItRuns() throws IOException {
        Path file = file(100_000);
        String forever = "1000000"; // seconds of each measurement
        assertThat(bench(file, "--sweep", "--time", forever, "--out", folder.resolve("none/found"))
                        .err())
                .contains("there is no directory " + folder.resolve("none"));
        assumeTrue(Files.exists(Path.of("/dev/full")), "there is no /dev/full");
        Files.createSymbolicLink(folder.resolve("found.properties"), Path.of("/dev/full"));
        assertThat(bench(file, "--sweep", "--time", forever, "--force", "--out", folder.resolve("found"))
                        .err())
                .contains("found.properties: only a regular file is replaced");
    }

    @Test
    void whatASweepHasFoundIsPrintedAlsoIfItsFilesCannotBeWritten() throws IOException {
        Path file = file(100_000);
        Path out = folder.resolve("f".repeat(250)); // with its suffix longer than names may be
        CommandLineRun run = bench(file, "--sweep", "--time", "0.004", "--out", out);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).contains("best: transfers of 64KiB, ").doesNotContain("wrote");
        assertThat(run.complaints()).hasSize(1);
        assertThat(files()).containsExactly(file);
    }

    @Test
    void severalGpusAreMeasuredAtTheSameTime() throws IOException {
        GpuFakes.find();
        Path file = file(1 << 20);
        CommandLineRun run = CommandLineRun.of(
                "bench",
                file,
                "--backend",
                "cufile",
                "--gpus",
                "0,0",
                "--path",
                "staged",
                "--time",
                "0.05",
                "--warm-up",
                "0",
                "--bs",
                "64k",
                "--verify");
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .contains("path      STAGED")
                .contains("device    0: ")
                .contains("device    1: ");
    }
}
