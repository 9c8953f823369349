// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.renderer.picture.Picture;
import io.penstock.renderer.picture.Png;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The real scan, drawn: what is asserted here was inspected before. The pictures stay in target/pictures. */
@Tag("once")
@Tag("slow")
class BundledScanTest {

    private static Showing showing;
    private static Scene scene;

    @BeforeAll
    static void load() throws Exception {
        Path scan = Path.of(BundledScanTest.class
                .getResource("/io/penstock/renderer/ch2better.nii.gz")
                .toURI());
        try (NiftiFile file = NiftiFile.open(scan, InflationProgress.SILENT)) {
            showing = new Showing(file.header(), ByteBuffer.wrap(Files.readAllBytes(file.path())));
        }
        scene = showing.scene(8 << 20);
    }

    @Test
    void budgetsCannotBeSeen() throws Exception {
        Camera camera = new Camera(33, 20);
        PlainRays plain = new PlainRays(scene, showing);
        Picture shaded = plain.shaded(camera);
        Picture maximum = plain.maximum(camera);
        for (long budget : new long[] {1_300_000, 8 << 20, 200 << 20}) {
            assertThat(showing.picture(budget, RayView.shaded(scene, camera)).rgb())
                    .as("budget %d", budget)
                    .isEqualTo(shaded.rgb());
            assertThat(showing.picture(budget, RayView.maximum(scene, camera)).rgb())
                    .as("maximum, budget %d", budget)
                    .isEqualTo(maximum.rgb());
        }
        for (int world = 0; world < 3; world++) {
            Picture large = showing.picture(200 << 20, new MaximumProjection(showing.header(), world, Display.DEFAULT));
            Picture small = showing.picture(300_000, new MaximumProjection(showing.header(), world, Display.DEFAULT));
            assertThat(small.rgb()).isEqualTo(large.rgb());
        }
    }

    @Test
    void fromTheFrontItIsUprightAndAsSymmetricAsPeopleAre() throws Exception {
        boolean[] seen = seen(draw("front", RayView.shaded(scene, new Camera(0, 0))));
        assertThat(coverage(seen)).isBetween(0.3, 0.6);
        assertThat(overlapWithMirrored(seen)).isGreaterThan(0.9);
        assertThat(columnsSeen(seen, 0.85)).as("the stem hangs below").isBetween(0.03, 0.2);
        assertThat(columnsSeen(seen, 0.4)).as("the hemispheres are above").isGreaterThan(0.55);
    }

    @Test
    void fromTheLeftTheBrowIsOnTheLeft() throws Exception {
        boolean[] seen = seen(draw("left", RayView.shaded(scene, new Camera(90, 0))));
        assertThat(coverage(seen)).isBetween(0.35, 0.65);
        assertThat(overlapWithMirrored(seen)).isLessThan(0.9);
        assertThat(stemFrom(seen)).as("the stem is behind the middle").isGreaterThan(256);
        assertThat(stemFrom(seen(draw("right", RayView.shaded(scene, new Camera(-90, 0))))))
                .isLessThan(256);
    }

    @Test
    void projectionsShowItInTheSamePlaces() throws Exception {
        boolean[] left = seen(draw("x", new MaximumProjection(showing.header(), 0, Display.DEFAULT)));
        assertThat(stemFrom(left)).isGreaterThan(256);
        boolean[] front = seen(draw("y", new MaximumProjection(showing.header(), 1, Display.DEFAULT)));
        assertThat(overlapWithMirrored(front)).isGreaterThan(0.9);
        boolean[] above = seen(draw("z", new MaximumProjection(showing.header(), 2, Display.DEFAULT)));
        assertThat(overlapWithMirrored(above)).isGreaterThan(0.9);
        assertThat(coverage(above)).isBetween(0.3, 0.7);
    }

    @Test
    void maximaFromAnyAngleShowItInTheSamePlaces() throws Exception {
        boolean[] left = seen(draw("mip-left", RayView.maximum(scene, new Camera(90, 0))));
        assertThat(stemFrom(left)).as("the stem is behind the middle").isGreaterThan(256);
        boolean[] front = seen(draw("mip-front", RayView.maximum(scene, new Camera(0, 0))));
        assertThat(coverage(front)).isBetween(0.3, 0.6);
        assertThat(overlapWithMirrored(front)).isGreaterThan(0.85);
        assertThat(columnsSeen(front, 0.4)).as("the hemispheres are above").isGreaterThan(0.55);
        draw("mip", RayView.maximum(scene, new Camera(30, 15)));
    }

    private static Picture draw(String name, Composition composition) throws Exception {
        Picture picture = showing.picture(8 << 20, composition);
        Path folder = Files.createDirectories(Path.of("target", "pictures"));
        Png.write(picture, folder.resolve(name + ".png"));
        return picture;
    }

    private static boolean[] seen(Picture picture) {
        boolean[] seen = new boolean[512 * 512];
        for (int pixel = 0; pixel < seen.length; pixel++) {
            seen[pixel] = (picture.rgb()[3 * pixel] & 0xff) > 48;
        }
        return seen;
    }

    private static double coverage(boolean[] seen) {
        int count = 0;
        for (boolean pixel : seen) {
            count += pixel ? 1 : 0;
        }
        return (double) count / seen.length;
    }

    private static double overlapWithMirrored(boolean[] seen) {
        double both = 0;
        double either = 0;
        for (int pixel = 0; pixel < seen.length; pixel++) {
            boolean mirrored = seen[pixel / 512 * 512 + 511 - pixel % 512];
            both += seen[pixel] && mirrored ? 1 : 0;
            either += seen[pixel] || mirrored ? 1 : 0;
        }
        return both / either;
    }

    private static double columnsSeen(boolean[] seen, double down) {
        int row = (int) (down * 512);
        int count = 0;
        for (int u = 0; u < 512; u++) {
            count += seen[row * 512 + u] ? 1 : 0;
        }
        return count / 512.0;
    }

    /** Returns the mean column of the lowest row in which anything is seen. */
    private static int stemFrom(boolean[] seen) {
        for (int v = 511; v >= 0; v--) {
            int sum = 0;
            int count = 0;
            for (int u = 0; u < 512; u++) {
                sum += seen[v * 512 + u] ? u : 0;
                count += seen[v * 512 + u] ? 1 : 0;
            }
            if (count > 10) {
                return sum / count;
            }
        }
        throw new AssertionError("nothing is seen");
    }
}
