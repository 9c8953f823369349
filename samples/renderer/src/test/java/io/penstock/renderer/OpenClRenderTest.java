// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.tck.Require;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code render --backend opencl-ssg}: kernels look at slabs where they are, behind fences, and draw what host draws.
 */
@Tag("slow")
class OpenClRenderTest {

    @TempDir
    Path folder;

    @BeforeEach
    void find() {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("opencl-ssg"))
                .forEach(listing -> Require.backend("opencl", listing.availability()));
    }

    private Path drawn(String view, String budget, String backend) {
        Path picture = folder.resolve(backend + ".png");
        CommandLineRun run =
                CommandLineRun.of("render", "--view", view, "--out", picture, "--budget", budget, "--backend", backend);
        assertThat(run.code()).as(run.err()).isZero();
        return picture;
    }

    private Path drawnBy(String variant, String view, String budget) {
        System.setProperty("penstock.opencl.path", variant);
        try {
            return drawn(view, budget, "opencl-ssg");
        } finally {
            System.clearProperty("penstock.opencl.path");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "x, staged, 8MiB",
        "y, auto, 8MiB",
        "z, staged, 1MiB",
        "z, auto, 1MiB",
        "mip, staged, 2MiB",
        "mip, auto, 8MiB"
    })
    void maximaAreThoseOfTheHost(String view, String variant, String budget) {
        assertThat(drawnBy(variant, view, budget)).hasSameBinaryContentAs(drawn(view, budget, "host"));
    }

    @ParameterizedTest
    @CsvSource({"staged, 2MiB", "auto, 8MiB"})
    void aShadedPictureIsWithinOneGreyLevelOfTheHosts(String variant, String budget) throws IOException {
        BufferedImage picture = ImageIO.read(drawnBy(variant, "shaded", budget).toFile());
        BufferedImage expected = ImageIO.read(drawn("shaded", "8MiB", "host").toFile());
        long off = 0;
        for (int y = 0; y < expected.getHeight(); y++) {
            for (int x = 0; x < expected.getWidth(); x++) {
                off += isOff(picture.getRGB(x, y), expected.getRGB(x, y)) ? 1 : 0;
            }
        }
        assertThat(off).isLessThanOrEqualTo((long) expected.getWidth() * expected.getHeight() / 1000);
    }

    private static boolean isOff(int some, int other) {
        for (int shift = 0; shift < 24; shift += 8) {
            if (Math.abs((some >> shift & 0xff) - (other >> shift & 0xff)) > 1) {
                return true;
            }
        }
        return false;
    }
}
