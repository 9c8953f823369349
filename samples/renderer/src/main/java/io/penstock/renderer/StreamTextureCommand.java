// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.cli.Progress;
import io.penstock.cli.Subcommand;
import io.penstock.renderer.gl.FrameTextures;
import io.penstock.renderer.gl.GlApplication;
import io.penstock.renderer.video.FrameClock;
import io.penstock.renderer.video.FrameFormat;
import io.penstock.renderer.video.FrameSize;
import io.penstock.renderer.video.Playback;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;

/** {@code penstock stream-texture}: raw video, from disk into the textures of an application that draws with OpenGL. */
@Command(
        name = "stream-texture",
        description = "Plays raw video from disk into OpenGL textures, without a window: each frame is copied to the"
                + " textures of a screen when it is due. One that has not arrived when the next is due is dropped."
                + " Prints at the end how many were shown and how many dropped.")
public final class StreamTextureCommand implements Subcommand {

    private static final double MOST_FPS = 1e6;
    private static final int MOST_PLACES = 1024;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "VIDEO", description = "Frames one after the other, without any header.")
    private Path video = Path.of("");

    @Option(names = "--size", paramLabel = "WxH", required = true, description = "Pixels of a frame, such as 640x360.")
    private String size = "";

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "yuv420",
            description =
                    "yuv420: planes of Y, U, V, the latter halved both ways (I420; default). rgb: 3 bytes a pixel.")
    private FrameFormat format = FrameFormat.YUV420;

    @Option(
            names = "--fps",
            paramLabel = "N",
            defaultValue = "0",
            description = "Frames per second. Without it each is shown when it has arrived, and none is dropped.")
    private double fps;

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "4",
            description = "Frames in textures at a time, at least 2: the one shown and those being read (default: 4).")
    private int depth;

    private final FrameClock clock;

    /** Plays by the system's clock. */
    public StreamTextureCommand() {
        this(FrameClock.SYSTEM);
    }

    StreamTextureCommand(FrameClock clock) {
        this.clock = clock;
    }

    @Override
    public Integer call() throws IOException {
        FrameSize frame = check();
        try (GlApplication application = GlApplication.open(Options.none())) {
            if (!application.backend().capabilities().images()) {
                throw new IllegalStateException(
                        application.backend().capabilities().device()
                                + " has no direct state access, by which textures are filled: OpenGL 4.5 is needed");
            }
            Result result = Objects.requireNonNull(application
                    .backend()
                    .withFile(video, FileOption.READ, file -> play(application, file, frame))
                    .block());
            say(frame, result);
            return 0;
        }
    }

    private FrameSize check() {
        if (!(fps >= 0 && fps <= MOST_FPS)) {
            throw misuse("--fps must be 0 to " + (int) MOST_FPS + ", was " + fps);
        }
        if (depth < 2 || depth > MOST_PLACES) {
            throw misuse("--depth must be 2 to " + MOST_PLACES + ", was " + depth);
        }
        try {
            return FrameSize.of(size);
        } catch (IllegalArgumentException e) {
            throw misuse("--size: " + e.getMessage());
        }
    }

    private ParameterException misuse(String complaint) {
        return new ParameterException(spec.commandLine(), complaint);
    }

    private record Result(Playback.Result played, String path) {}

    private Mono<Result> play(GlApplication application, StorageFile file, FrameSize frame) {
        long bytes = format.bytes(frame);
        if (file.size() == 0 || file.size() % bytes != 0) {
            return Mono.error(new IOException(video + " has " + file.size() + " bytes, which is not a whole number of "
                    + frame + " frames of " + bytes));
        }
        long period = fps == 0 ? 0 : Math.round(1e9 / fps);
        return Mono.using(
                () -> new FrameTextures(application, file, format.planes(frame), depth),
                textures -> new Playback(clock, textures, period, depth)
                        .play(file.size() / bytes)
                        .map(played -> new Result(played, String.valueOf(textures.path()))));
    }

    private void say(FrameSize frame, Result result) {
        Playback.Result played = result.played;
        spec.commandLine()
                .getOut()
                .println(String.format(
                        Locale.ROOT,
                        "%d frames of %s shown, %d dropped, in %.2f s, %s, path %s, backend gl",
                        played.shown(),
                        frame,
                        played.dropped(),
                        played.nanos() / 1e9,
                        Progress.rate(played.fetched() * format.bytes(frame), played.nanos()),
                        result.path));
        spec.commandLine().getOut().flush();
    }
}
