// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backends;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rows of cufile in small, on the fakes that the tests of backend-cufile have built. */
@Tag("once")
@Tag("slow")
class CufileRowsTest {

    private static final Path TARGET =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("target");
    private static final Path FAKES = TARGET.resolve("../../../backend-cufile/target/fakes");

    @TempDir(factory = OnDisk.class)
    static Path folder;

    private static @Nullable GpuBench open;
    private static Settings settings = Settings.parse(new String[] {"cufile"});

    /** Where O_DIRECT works: the folder for temporary files may be memory. */
    static final class OnDisk implements TempDirFactory {
        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
            return Files.createTempDirectory(Files.createDirectories(TARGET), "rows");
        }
    }

    @BeforeAll
    static void open() throws Exception {
        useFakes();
        Backends.list().stream()
                .filter(listing -> listing.name().equals("cufile"))
                .forEach(listing -> Require.backend("fakes", listing.availability()));
        settings = Settings.parse(new String[] {
            "cufile",
            "--force",
            "--pairs",
            "1",
            "--seconds",
            "0.01",
            "--mib",
            "16",
            "--blocks",
            "200",
            "--dir",
            folder.toString()
        });
        open = GpuBench.of(settings);
    }

    /** Makes this process, and those that it starts with {@link GpuBench#libraries}, use the fakes of CUDA. */
    static void useFakes() throws IOException {
        Path fakes = newest();
        Require.backend("fakes", fakes == null ? "no fakes in " + FAKES + ": test backend-cufile first" : null);
        System.setProperty("penstock.cufile.libcuda", fakes + "/libcuda.so.1");
        System.setProperty("penstock.cufile.libcufile", fakes + "/libcufile.so.0");
    }

    private static @Nullable Path newest() throws IOException {
        if (!Files.isDirectory(FAKES)) {
            return null;
        }
        try (Stream<Path> folders = Files.list(FAKES)) {
            return folders.filter(each -> each.getFileName().toString().startsWith("libraries-"))
                    .max(Comparator.comparing(each -> each.toFile().lastModified()))
                    .orElse(null);
        }
    }

    @AfterAll
    static void close() {
        if (open != null) {
            open.close();
        }
        System.clearProperty("penstock.cufile.libcuda");
        System.clearProperty("penstock.cufile.libcufile");
        System.clearProperty("penstock.cufile.mapped-bytes");
    }

    private static GpuBench bench() {
        GpuBench bench = open;
        if (bench == null) {
            throw new IllegalStateException("not open");
        }
        return bench;
    }

    static List<Named<Row>> rows() throws IOException {
        return bench().rows().stream()
                .filter(row -> !row.isOnlyByName())
                .map(row -> Named.of(row.name(), row))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("rows")
    @Timeout(300) // a row starts a JVM for each of five contenders, which takes long beside others
    void everyContenderOfARowMovesTheRightBytes(Row row) throws Exception {
        Report report = row.run(settings, false);
        List<String> measured = report.figures().stream().map(Figure::contender).toList();
        assertThat(measured).hasSize(((Rounds) row).contenders().size());
        assertThat(report.results()).hasSize(((Rounds) row).comparisons().size());
    }

    @Test
    void theGridTriesTheOptionsOfStagingOneAfterAnother() throws Exception {
        Row grid = bench().rows().stream()
                .filter(row -> row.name().equals("staging-grid"))
                .findFirst()
                .orElseThrow();
        Report report = grid.run(settings, false);
        assertThat(report.figures())
                .hasSize(24)
                .extracting(Figure::contender)
                .contains("16 staging workers, 3 staging buffers of 4096 KiB each");
    }

    @Test
    void aPeerThatReadsWrongBytesIsStopped() throws Exception {
        GpuBench bench = bench();
        Path wrong = Files.copy(bench.hot, folder.resolve("wrong"));
        try (FileChannel file = FileChannel.open(wrong, StandardOpenOption.WRITE)) {
            ByteBuffer word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
            file.write(word, 12_345 * 8);
        }
        PeerContender peer =
                new PeerContender(bench.peers(), "loop hot=" + wrong + " bytes=" + (16 << 20) + " chunk=65536", "same");
        peer.run(0);
        assertThatThrownBy(peer::verify).isInstanceOf(IOException.class).hasMessageContaining("1 wrong words");
    }

    @Test
    void operationsThatEndOneByOneAreTimed() throws Exception {
        GpuBench bench = bench();
        String order = "loop hot=" + bench.hot + " bytes=" + (16 << 20) + " chunk=65536 threads=2 buffers=";
        Latency loop = bench.open(Order.of(order + 1)).latency(0);
        assertThat(loop).isNotNull();
        assertThat(loop.p50()).isPositive().isLessThanOrEqualTo(loop.p999());
        assertThat(bench.open(Order.of(order + 2)).latency(0))
                .as("its operations overlap")
                .isNull();
    }

    @Test
    void aFailedPeerIsReportedAndTheNextOneRuns() throws Exception {
        GpuBench bench = bench();
        PeerContender absent = new PeerContender(bench.peers(), "loop hot=/nowhere bytes=4096 chunk=4096", "same");
        assertThatThrownBy(() -> absent.run(0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("/nowhere: No such file or directory");
        PeerContender there = new PeerContender(
                bench.peers(), "loop hot=" + bench.hot + " bytes=" + (16 << 20) + " chunk=65536", "same");
        there.run(0);
        there.verify();
    }
}
