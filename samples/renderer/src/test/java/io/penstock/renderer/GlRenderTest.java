// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.renderer.volume.Phantom;
import io.penstock.renderer.volume.VoxelType;
import io.penstock.tck.Require;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code render --backend gl}: shaders look at slabs in 3D textures, behind fences, and draw what host draws. */
@Tag("slow")
class GlRenderTest {

    /** Of the pixels, and of the levels of grey that they may be off: what is promised of shaded pictures. */
    private static final double FEW = 0.005;

    private static final int CLOSE = 2;

    @TempDir
    Path folder;

    @BeforeEach
    void find() {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("gl"))
                .forEach(listing -> Require.backend("gl", listing.availability()));
    }

    private Path drawn(String backend, List<?> arguments) {
        Path picture = folder.resolve(backend + ".png");
        List<Object> all = new ArrayList<>(List.of("render", "--backend", backend, "--out", picture));
        all.addAll(arguments);
        CommandLineRun run = CommandLineRun.of(all.toArray());
        assertThat(run.code()).as(run.err()).isZero();
        return picture;
    }

    private void assertSame(List<?> arguments) {
        assertThat(drawn("gl", arguments)).hasSameBinaryContentAs(drawn("host", arguments));
    }

    private void assertClose(List<?> arguments) throws IOException {
        BufferedImage picture = ImageIO.read(drawn("gl", arguments).toFile());
        BufferedImage expected = ImageIO.read(drawn("host", arguments).toFile());
        long off = 0;
        for (int y = 0; y < expected.getHeight(); y++) {
            for (int x = 0; x < expected.getWidth(); x++) {
                off += isOff(picture.getRGB(x, y), expected.getRGB(x, y)) ? 1 : 0;
            }
        }
        assertThat((double) off).isLessThanOrEqualTo(FEW * expected.getWidth() * expected.getHeight());
    }

    private static boolean isOff(int some, int other) {
        for (int shift = 0; shift < 24; shift += 8) {
            if (Math.abs((some >> shift & 0xff) - (other >> shift & 0xff)) > CLOSE) {
                return true;
            }
        }
        return false;
    }

    @ParameterizedTest
    @CsvSource({"x, 8MiB", "y, 1MiB", "z, 1MiB", "z, 300KiB"})
    void projectionsOfTheScanAreThoseOfTheHost(String view, String budget) {
        assertSame(List.of("--view", view, "--budget", budget));
    }

    @Test
    void aShadedPictureOfTheScanIsWithinTwoGreyLevelsOfTheHosts() throws IOException {
        assertClose(List.of("--view", "shaded"));
    }

    /** Writes a volume that is described as {@code INT16 big falling 20 31 60}. */
    private Path volume(String described) throws IOException {
        String[] words = described.split(" ");
        ByteOrder order = words[1].equals("big") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        int[] extents = Stream.of(words).skip(3).mapToInt(Integer::parseInt).toArray();
        Phantom phantom = Phantom.ball(VoxelType.valueOf(words[0]), order, extents[0], extents[1], extents[2])
                .spacing(1, 1.5, 0.75)
                .slope(words[2].equals("falling") ? -1 : 1);
        return Files.write(folder.resolve("volume.nii"), phantom.bytes());
    }

    @ParameterizedTest
    @CsvSource({
        "UINT8 little rising 41 33 37, 8KiB",
        "INT8 little rising 15 16 1, 1KiB",
        "INT16 big falling 20 31 60, 3KiB",
        "UINT16 little rising 20 31 60, 1MiB",
        "FLOAT32 big rising 110 13 9, 12KiB",
        "FLOAT32 little falling 9 13 50, 5KiB"
    })
    void projectionsOfEveryKindOfVoxelAreThoseOfTheHost(String described, String budget) throws IOException {
        Path volume = volume(described);
        for (String view : List.of("x", "y", "z")) {
            assertSame(List.of(volume, "--view", view, "--budget", budget));
        }
    }

    /** Volumes, where they are looked at from, and the bytes of them that may be in memory. */
    @ParameterizedTest
    @CsvSource({
        "UINT8 little rising 41 33 37, 0, 90, 24KiB",
        "INT8 little rising 15 16 1, 33, 20, 1MiB",
        "INT16 big falling 20 31 60, 215, -40, 12KiB",
        "UINT16 little rising 21 31 60, 100, 5, 1MiB",
        "FLOAT32 big rising 110 13 9, 33, 20, 40KiB",
        "FLOAT32 little falling 9 13 50, 180, -90, 1MiB"
    })
    @Retention(RetentionPolicy.RUNTIME)
    private @interface EveryKindOfVoxelFromSomewhere {}

    @EveryKindOfVoxelFromSomewhere
    void shadedPicturesOfEveryKindOfVoxelAreWithinTwoGreyLevelsOfTheHosts(
            String described, int azimuth, int elevation, String budget) throws IOException {
        Path volume = volume(described);
        assertClose(List.of(volume, "--azimuth", azimuth, "--elevation", elevation, "--budget", budget));
    }

    @ParameterizedTest
    @CsvSource({"30, 15, 8MiB", "200, -50, 2MiB"})
    void maximaOfTheScanFromAnyAngleAreThoseOfTheHost(int azimuth, int elevation, String budget) {
        assertSame(List.of("--view", "mip", "--azimuth", azimuth, "--elevation", elevation, "--budget", budget));
    }

    @EveryKindOfVoxelFromSomewhere
    void maximaOfEveryKindOfVoxelFromAnyAngleAreThoseOfTheHost(
            String described, int azimuth, int elevation, String budget) throws IOException {
        Path volume = volume(described);
        assertSame(
                List.of(volume, "--view", "mip", "--azimuth", azimuth, "--elevation", elevation, "--budget", budget));
    }

    @Test
    void moreSlicesThanATextureHasAreShownInSeveral() throws IOException {
        assertSame(List.of(volume("UINT8 little rising 3 2 20000"), "--view", "x"));
    }

    @Test
    void slicesThatAreTooWideForTexturesAreNamed() throws IOException {
        Path volume = volume("UINT8 little rising 32000 1 1");
        CommandLineRun run = CommandLineRun.of(
                "render", volume, "--view", "z", "--backend", "gl", "--out", folder.resolve("wide.png"));
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.complaints())
                .singleElement()
                .asString()
                .contains("slices of 32000 by 1 voxels exceed the largest 3D texture");
    }

    @Test
    void aTurntablePrintsItsRate() throws IOException {
        Path volume = volume("UINT8 little rising 20 20 20");
        CommandLineRun run =
                CommandLineRun.of("render", volume, "--frames", 3, "--backend", "gl", "--out", folder.resolve("t.png"));
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines().skip(3))
                .singleElement()
                .asString()
                .matches("3 frames, [0-9.]+ frames per second, [0-9.]+ [GMk]B/s, backend gl");
    }
}
