// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StreamTextureCommandTest {

    @TempDir
    Path folder;

    @BeforeEach
    void find() {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("gl"))
                .forEach(listing -> Require.backend("gl", listing.availability()));
    }

    private Path video(int bytes) throws IOException {
        return Files.write(folder.resolve("video.raw"), new byte[bytes]);
    }

    @ParameterizedTest
    @CsvSource({"yuv420, 20x10, 300", "yuv420, 21x11, 363", "rgb, 21x11, 693"})
    void aVideoWithoutARateIsPlayedAsFastAsItIsRead(String format, String size, int frameBytes) throws IOException {
        Path video = video(7 * frameBytes);
        CommandLineRun run = CommandLineRun.of("stream-texture", video, "--size", size, "--format", format);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out().lines())
                .singleElement()
                .asString()
                .matches("7 frames of " + size
                        + " shown, 0 dropped, in [0-9.]+ s, [0-9.]+ [GMk]B/s, path STAGED, backend gl");
    }

    @Test
    void lateFramesAreCountedAsDropped() throws IOException {
        CommandLineRun run = CommandLineRun.of(
                "stream-texture", video(50 * 3), "--size", "1x1", "--format", "rgb", "--fps", 100_000);
        assertThat(run.code()).as(run.err()).isZero();
        String[] words = run.out().split("[ ,]+");
        assertThat(Integer.parseInt(words[0]) + Integer.parseInt(words[5]))
                .as(run.out())
                .isEqualTo(50);
    }

    @Test
    void badInputGetsOneLine() throws IOException {
        assertComplaint("which is not a whole number of 20x10 frames of 300", video(301), "--size", "20x10");
        assertComplaint("which is not a whole number of", video(0), "--size", "20x10");
        assertComplaint("there is no", folder.resolve("none"), "--size", "20x10");
        assertComplaint("glTextureStorage2D", video(90_000 * 3), "--size", "90000x1", "--format", "rgb");
    }

    private static void assertComplaint(String fact, Path video, String... arguments) {
        Object[] all = new Object[arguments.length + 2];
        all[0] = "stream-texture";
        all[1] = video;
        System.arraycopy(arguments, 0, all, 2, arguments.length);
        CommandLineRun run = CommandLineRun.of(all);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.complaints()).singleElement().asString().contains(fact);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void misuseGetsCodeTwo() throws IOException {
        Path video = video(300);
        assertThat(CommandLineRun.of("stream-texture", video).code()).isEqualTo(2);
        assertThat(CommandLineRun.of("stream-texture", video, "--size", "20").code())
                .isEqualTo(2);
        assertThat(CommandLineRun.of("stream-texture", video, "--size", "20x10", "--fps", -1)
                        .code())
                .isEqualTo(2);
        assertThat(CommandLineRun.of("stream-texture", video, "--size", "20x10", "--depth", 1)
                        .code())
                .isEqualTo(2);
        assertThat(CommandLineRun.of("stream-texture", video, "--size", "20x10", "--format", "gif")
                        .code())
                .isEqualTo(2);
    }
}
