// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.cli.BackendChoice;
import io.penstock.cli.ByteSize;
import io.penstock.cli.Progress;
import io.penstock.cli.Subcommand;
import io.penstock.file.PartFile;
import io.penstock.renderer.picture.Png;
import io.penstock.renderer.volume.BadVolumeException;
import io.penstock.renderer.volume.Budget;
import io.penstock.renderer.volume.Camera;
import io.penstock.renderer.volume.Display;
import io.penstock.renderer.volume.NiftiFile;
import io.penstock.renderer.volume.NiftiHeader;
import io.penstock.renderer.volume.Scene;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code penstock render}: pictures of a volume that is never in memory as a whole. */
@Command(name = "render", description = "Renders a NIfTI volume (.nii, .nii.gz), streaming it in slabs.")
public final class RenderCommand implements Subcommand {

    private static final int MAX_FRAMES = 100_000;
    private static final String SUFFIX = ".png";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            arity = "0..1",
            paramLabel = "VOLUME",
            description = "The file to draw (default: the bundled scan of a brain).")
    private @Nullable Path path;

    @Option(
            names = "--view",
            paramLabel = "VIEW",
            defaultValue = "shaded",
            description = "x, y, z: maximum intensity from the left, front, top, voxel by voxel. mip: maximum intensity"
                    + " from any angle. shaded: light on surfaces, from any angle (default).")
    private View view = View.SHADED;

    @Option(
            names = "--azimuth",
            paramLabel = "DEGREES",
            defaultValue = "30",
            description = "Degrees around; 0 is the face (default: 30).")
    private double azimuth;

    @Option(
            names = "--elevation",
            paramLabel = "DEGREES",
            defaultValue = "15",
            description = "Degrees above the horizon (default: 15).")
    private double elevation;

    @Option(
            names = "--frames",
            paramLabel = "N",
            defaultValue = "1",
            description = "Frames of a turntable, numbered (default: 1). For several it prints at the end how many were"
                    + " drawn per second, and the GB/s of voxels behind that; the writing of pictures is not included.")
    private int frames;

    @Option(
            names = "--budget",
            paramLabel = "BYTES",
            defaultValue = "8MiB",
            converter = ByteSize.class,
            description = "Bytes of voxels in memory at a time (default: 8MiB).")
    private long budgetBytes;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            defaultValue = "penstock-render.png",
            description = "The picture to write, a PNG (default: penstock-render.png).")
    private Path out = Path.of("penstock-render.png");

    @Mixin
    private BackendChoice choice = new BackendChoice();

    private final Progress progress = new Progress();

    /** For picocli. */
    public RenderCommand() {}

    @Override
    public Integer call() throws IOException {
        check();
        try (Composer composer = Composer.open(choice.name(), Options.none());
                BundledScan bundled = new BundledScan();
                NiftiFile volume = NiftiFile.open(path == null ? bundled.path() : path, this::inflated)) {
            announce(volume);
            VolumeReader reader = new VolumeReader(composer.backend(), volume, Budget.of(budgetBytes));
            Function<Camera, Shot> shots = shots(reader, volume.header());
            long nanos = 0;
            for (int frame = 0; frame < frames; frame++) {
                Camera camera = new Camera(azimuth + 360.0 * frame / frames, elevation);
                nanos += draw(reader, composer, frame, shots.apply(camera));
            }
            if (frames > 1) {
                summarize(reader, nanos);
            }
            return 0;
        } finally {
            progress.clear();
        }
    }

    private void check() throws IOException {
        if (frames < 1 || frames > MAX_FRAMES) {
            throw new ParameterException(spec.commandLine(), "--frames must be 1 to " + MAX_FRAMES + ", was " + frames);
        }
        if (!out.toString().endsWith(SUFFIX)) {
            throw new ParameterException(spec.commandLine(), "--out must end in " + SUFFIX + ", was " + out);
        }
        try {
            new Camera(azimuth, elevation);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        PartFile.folder(out);
        PartFile.checkReplaceable(out);
    }

    private void inflated(String into, long done, long total) {
        progress.step("inflating into " + into, done, total);
        if (done == total) {
            progress.clear();
        }
    }

    private void announce(NiftiFile volume) {
        NiftiHeader header = volume.header();
        if (header.volumes() > 1) {
            progress.line("this file holds " + header.volumes() + " volumes; the first is drawn");
        }
    }

    /** Returns the shot for a camera; a projection along an axis does not depend on it. */
    private Function<Camera, Shot> shots(VolumeReader reader, NiftiHeader header) throws BadVolumeException {
        if (!view.turns()) {
            return camera -> Shot.along(header, view, Display.DEFAULT);
        }
        Scene scene = reader.survey(name -> (done, variant) -> progress.step(name, done, header.volumeBytes()));
        return camera -> Shot.of(scene, view, camera);
    }

    /** Returns how long it took, excluding the writing of the picture. */
    private long draw(VolumeReader reader, Composer composer, int frame, Shot shot) throws IOException {
        String name = "frame " + (frame + 1) + "/" + frames;
        long start = System.nanoTime();
        Composer.Drawn drawn = composer.draw(
                reader,
                shot,
                (done, variant) -> progress.step(
                        "path " + variant + ", backend " + reader.backend() + ", " + name, done, reader.bytes()));
        long nanos = System.nanoTime() - start;
        Path file = file(frame);
        Png.write(drawn.picture(), file);
        VolumeReader.Pass pass = drawn.pass();
        String variant = variant(pass.bytes(), pass.nanos(), pass.path(), reader.backend());
        progress.line(name + ": " + nanos / 1_000_000 + " ms, " + pass.bytes() + " bytes at " + variant);
        say(file.toString());
        return nanos;
    }

    private void summarize(VolumeReader reader, long nanos) {
        say(String.format(
                Locale.ROOT,
                "%d frames, %.2f frames per second, %s, backend %s",
                frames,
                frames * 1e9 / Math.max(nanos, 1),
                Progress.rate(frames * reader.bytes(), nanos),
                reader.backend()));
    }

    private void say(String line) {
        spec.commandLine().getOut().println(line);
        spec.commandLine().getOut().flush();
    }

    private static String variant(long bytes, long nanos, TransferPath path, String backend) {
        return Progress.rate(bytes, nanos) + ", path " + path + ", backend " + backend;
    }

    /** Returns the file of a frame: the requested one, with a number before its suffix if there are several. */
    private Path file(int frame) {
        if (frames == 1) {
            return out;
        }
        String name = String.valueOf(out.getFileName());
        String stem = name.substring(0, name.length() - SUFFIX.length());
        return out.resolveSibling(String.format(Locale.ROOT, "%s-%03d%s", stem, frame, SUFFIX));
    }
}
