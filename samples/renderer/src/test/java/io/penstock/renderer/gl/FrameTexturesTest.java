// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.renderer.gl.ffi.GlReads;
import io.penstock.renderer.video.FrameFormat;
import io.penstock.renderer.video.FrameFormat.Plane;
import io.penstock.renderer.video.FrameSize;
import io.penstock.renderer.video.Playback;
import io.penstock.renderer.video.SteppedClock;
import io.penstock.tck.Require;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** A raw video goes from a file into textures, frame by frame, each in its time or not at all. */
class FrameTexturesTest {

    private static final int FRAMES = 12;
    private static final long HOUR = Duration.ofHours(1).toNanos(); // no disk is slower: only the test's clock drops

    @TempDir
    Path folder;

    private GlApplication application;
    private final SteppedClock clock = new SteppedClock();
    private final List<Long> shown = new ArrayList<>();
    private final List<byte[]> seen = new ArrayList<>();

    @BeforeAll
    static void require() {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("gl"))
                .forEach(listing -> Require.backend("gl", listing.availability()));
    }

    @BeforeEach
    void open() {
        application = GlApplication.open(Options.none());
    }

    @AfterEach
    void close() {
        application.close();
    }

    private byte[] video(int bytes) throws IOException {
        byte[] frames = new byte[FRAMES * bytes];
        new Random(bytes).nextBytes(frames);
        Files.write(folder.resolve("video"), frames);
        return frames;
    }

    /** The textures, looked at after each frame; showing frame 4 takes two and a half periods. */
    private Playback.Stage watched(FrameTextures textures, List<Plane> planes) {
        return new Playback.Stage() {
            @Override
            public Mono<Void> fetch(long frame, @Nullable Duration limit) {
                return textures.fetch(frame, limit);
            }

            @Override
            public Mono<Void> show(long frame) {
                return textures.show(frame).then(Mono.fromRunnable(() -> {
                    shown.add(frame);
                    seen.add(application.call(() -> screen(textures, planes)));
                    clock.pass(frame == 4 ? 5 * HOUR / 2 : 0);
                }));
            }
        };
    }

    private static byte[] screen(FrameTextures textures, List<Plane> planes) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < planes.size(); i++) {
            int format = planes.get(i).texelBytes() == 3 ? GlReads.GL_RGB : GlReads.GL_RED;
            all.writeBytes(GlReads.texels(
                    textures.screen().get(i), format, (int) planes.get(i).bytes()));
        }
        GlApplication.check("glGetTextureImage");
        return all.toByteArray();
    }

    private Playback.Result play(List<Plane> planes, long period, int places) {
        Path video = folder.resolve("video");
        return Objects.requireNonNull(application
                .backend()
                .withFile(video, FileOption.READ, file -> play(file, planes, period, places))
                .block());
    }

    private Mono<Playback.Result> play(StorageFile file, List<Plane> planes, long period, int places) {
        return Mono.using(
                () -> new FrameTextures(application, file, planes, places),
                textures -> new Playback(clock, watched(textures, planes), period, places).play(FRAMES));
    }

    private void assertSeen(byte[] video, Long... frames) {
        assertThat(shown).containsExactly(frames);
        int bytes = video.length / FRAMES;
        for (int i = 0; i < frames.length; i++) {
            int from = (int) (frames[i] * bytes);
            assertThat(seen.get(i)).as("frame %d", frames[i]).isEqualTo(Arrays.copyOfRange(video, from, from + bytes));
        }
    }

    @ParameterizedTest
    @CsvSource({"YUV420, 64x48, 2", "YUV420, 21x11, 4", "RGB, 33x7, 3", "RGB, 1x1, 8"})
    void everyFrameIsShownAsItIsInTheFileWhereNothingPresses(FrameFormat format, String size, int places)
            throws IOException {
        byte[] video = video((int) format.bytes(FrameSize.of(size)));
        Playback.Result result = play(format.planes(FrameSize.of(size)), 0, places);
        assertThat(result.shown()).isEqualTo(FRAMES);
        assertThat(result.dropped()).isZero();
        assertSeen(video, 0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L);
    }

    @Test
    void aVideoThatBecomesShorterIsAFailureNotAPictureOfOldBytes() throws IOException {
        List<Plane> planes = FrameFormat.RGB.planes(FrameSize.of("33x7"));
        video((int) FrameFormat.RGB.bytes(FrameSize.of("33x7")));
        Path path = folder.resolve("video");
        long length = Files.size(path);
        assertThatThrownBy(() -> application
                        .backend()
                        .withFile(path, FileOption.READ, file -> {
                            cut(path, length - 1);
                            return play(file, planes, 0, 2);
                        })
                        .block())
                .hasRootCauseInstanceOf(EOFException.class)
                .hasMessageContaining("the video was truncated while it was played");
        assertThat(shown).hasSize(FRAMES - 1);
    }

    private static void cut(Path path, long length) {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.truncate(length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Frame 4 is seen from 4 to 6.5 periods: the time of frame 5 has passed by then, and the time of frame 6 has not.
     */
    @ParameterizedTest
    @CsvSource({"YUV420, 21x11, 2", "YUV420, 64x48, 5", "RGB, 33x7, 3"})
    void lateFramesAreDroppedAndTheOthersShown(FrameFormat format, String size, int places) throws IOException {
        byte[] video = video((int) format.bytes(FrameSize.of(size)));
        Playback.Result result = play(format.planes(FrameSize.of(size)), HOUR, places);
        assertThat(result.shown()).isEqualTo(FRAMES - 1);
        assertThat(result.dropped()).isEqualTo(1);
        assertSeen(video, 0L, 1L, 2L, 3L, 4L, 6L, 7L, 8L, 9L, 10L, 11L);
    }
}
