// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.testing.CommandLineRun;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class RenderCommandTest {

    @TempDir
    Path folder;

    @Test
    void theBundledScanIsDrawnAndNothingElseIsLeft() throws IOException {
        List<String> before = temporaries();
        Path out = folder.resolve("brain.png");
        CommandLineRun run = CommandLineRun.of("render", "--out", out, "--backend", "host");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out().strip()).isEqualTo(out.toString());
        BufferedImage image = ImageIO.read(out.toFile());
        assertThat(image.getWidth()).isEqualTo(512);
        assertThat(image.getHeight()).isEqualTo(512);
        assertThat(names()).containsExactly("brain.png");
        assertThat(temporaries()).isEqualTo(before);
    }

    /** Progress is written to standard error. */
    @Test
    void theTemporaryFileOfACompressedVolumeIsNotReported() {
        PrintStream err = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            CommandLineRun.of("render", "--out", folder.resolve("brain.png"), "--backend", "host");
        } finally {
            System.setErr(err);
        }
        assertThat(written.toString(StandardCharsets.UTF_8))
                .contains("frame 1/1: ")
                .doesNotContain("inflat", "without a name");
    }

    @ParameterizedTest
    @Tag("once")
    @ValueSource(strings = {"x", "mip", "shaded"})
    void budgetsQueuesAndKindsOfIoCannotBeSeen(String view) throws IOException {
        Path scan = plainScan();
        byte[] first = null;
        for (String[] way : new String[][] {
            {"1200KiB", "auto", "3"}, {"1200KiB", "pool", "1"}, {"8MiB", "auto", "1"}, {"100MiB", "pool", "3"}
        }) {
            Path out = folder.resolve("any.png");
            System.setProperty("penstock.host.io", way[1]);
            System.setProperty("penstock.host.queues", way[2]);
            try {
                CommandLineRun run = CommandLineRun.of(
                        "render", scan, "--view", view, "--budget", way[0], "--out", out, "--backend", "host");
                assertThat(run.err()).isEmpty();
            } finally {
                System.clearProperty("penstock.host.io");
                System.clearProperty("penstock.host.queues");
            }
            byte[] png = Files.readAllBytes(out);
            first = first == null ? png : first;
            assertThat(png).as("budget, I/O, queues: %s", List.of(way)).isEqualTo(first);
        }
    }

    @Test
    void aTurntableNumbersItsFrames() throws IOException {
        CommandLineRun run = CommandLineRun.of(
                "render", plainScan(), "--frames", 3, "--out", folder.resolve("t.png"), "--backend", "host");
        assertThat(run.err()).isEmpty();
        assertThat(names()).contains("t-000.png", "t-001.png", "t-002.png");
        assertThat(run.out().lines().limit(3)).allMatch(line -> line.endsWith(".png"));
        assertThat(run.out().lines().skip(3))
                .singleElement()
                .asString()
                .matches("3 frames, [0-9.]+ frames per second, [0-9.]+ [GMk]B/s, backend host");
        assertThat(folder.resolve("t-001.png")).binaryContent().isNotEqualTo(bytes("t-000.png"));
    }

    @Test
    void maximumIntensityIsDrawnFromEveryAngleOfATurntable() throws IOException {
        Path scan = plainScan();
        Path out = folder.resolve("m.png");
        CommandLineRun run = CommandLineRun.of(
                "render", scan, "--view", "mip", "--elevation", 40, "--frames", 2, "--out", out, "--backend", "host");
        assertThat(run.err()).isEmpty();
        assertThat(names()).contains("m-000.png", "m-001.png");
        CommandLineRun.of(
                "render",
                scan,
                "--view",
                "mip",
                "--azimuth",
                210,
                "--elevation",
                40,
                "--out",
                out,
                "--backend",
                "host");
        assertThat(out).hasSameBinaryContentAs(folder.resolve("m-001.png"));
        assertThat(bytes("m-000.png")).isNotEqualTo(bytes("m-001.png"));
        CommandLineRun.of("render", scan, "--azimuth", 210, "--elevation", 40, "--out", out, "--backend", "host");
        assertThat(bytes("m.png")).as("shaded").isNotEqualTo(bytes("m-001.png"));
    }

    @Test
    void aViewThatIsNoneIsRefusedWithThoseThatAre() {
        CommandLineRun run = CommandLineRun.of("render", "--view", "w");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).containsIgnoringCase("x, y, z, mip, shaded");
        assertThat(CommandLineRun.of("render", "--help").out())
                .containsSubsequence("The picture to write, a PNG", "mip: maximum intensity", "any angle");
    }

    @Test
    void badInputGetsOneLine() throws IOException {
        Path scan = plainScan();
        Path cut = folder.resolve("cut.nii");
        byte[] bytes = Files.readAllBytes(scan);
        Files.write(cut, Arrays.copyOf(bytes, bytes.length - 1));
        Path text = Files.writeString(folder.resolve("text.nii"), "no volume at all");
        Path out = folder.resolve("out.png");

        assertComplaint("is truncated: the header specifies 35192920 bytes", "render", cut, "--out", out);
        assertComplaint("not a valid NIfTI file", "render", text, "--out", out);
        assertComplaint("there is no file", "render", folder.resolve("none"), "--out", out);
        assertComplaint("is a directory", "render", folder, "--out", out);
        assertComplaint("a budget of 65536 bytes is too small", "render", scan, "--budget", "64KiB", "--out", out);
        assertComplaint("there is no directory", "render", scan, "--out", folder.resolve("a/b.png"));
        assertComplaint("only a regular file is replaced", "render", scan, "--out", Files.createDirectory(out));
        assertThat(names()).containsExactlyInAnyOrder("cut.nii", "text.nii", "scan.nii", "out.png");
    }

    @Test
    void misuseGetsCodeTwo() {
        assertThat(CommandLineRun.of("render", "--frames", 0).code()).isEqualTo(2);
        assertThat(CommandLineRun.of("render", "--budget", "much").code()).isEqualTo(2);
        assertThat(CommandLineRun.of("render", "--elevation", 91).code()).isEqualTo(2);
        assertThat(CommandLineRun.of("paint").code()).isEqualTo(2);
        CommandLineRun jpeg = CommandLineRun.of("render", "--out", folder.resolve("brain.jpg"));
        assertThat(jpeg.code()).isEqualTo(2);
        assertThat(jpeg.err()).contains("--out must end in .png, was " + folder.resolve("brain.jpg"));
    }

    private static void assertComplaint(String fact, Object... arguments) {
        CommandLineRun run = CommandLineRun.of(arguments);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.complaints()).singleElement().asString().contains(fact);
        assertThat(run.out()).isEmpty();
    }

    private Path plainScan() throws IOException {
        Path scan = folder.resolve("scan.nii");
        try (InputStream in = new GZIPInputStream(RenderCommand.class.getResourceAsStream("ch2better.nii.gz"))) {
            Files.copy(in, scan);
        }
        return scan;
    }

    private byte[] bytes(String name) throws IOException {
        return Files.readAllBytes(folder.resolve(name));
    }

    private List<String> names() throws IOException {
        return names(folder, "");
    }

    private static List<String> temporaries() throws IOException {
        return names(
                Path.of(System.getProperty("java.io.tmpdir")),
                "penstock-" + ProcessHandle.current().pid() + "-");
    }

    private static List<String> names(Path folder, String prefix) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString())
                    .filter(name -> name.startsWith(prefix))
                    .sorted()
                    .toList();
        }
    }
}
