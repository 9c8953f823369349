// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DisplayTest {

    private static final long BUDGET = 1 << 20;

    private Showing showing;
    private Scene scene;

    @BeforeEach
    void survey() throws BadVolumeException {
        showing = new Showing(Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 41, 33, 37));
        scene = showing.scene(BUDGET);
    }

    /** Every view of the ball. */
    private List<Picture> pictures(Display display) throws BadVolumeException {
        Camera camera = new Camera(33, 20);
        List<Picture> pictures = new ArrayList<>();
        for (int world = 0; world < 3; world++) {
            pictures.add(showing.picture(BUDGET, new MaximumProjection(showing.header(), world, display)));
        }
        pictures.add(showing.picture(BUDGET, RayView.maximum(scene.displayed(display), camera)));
        pictures.add(showing.picture(BUDGET, RayView.shaded(scene.displayed(display), camera)));
        return pictures;
    }

    private static int green(Picture picture, int u, int v) {
        return Byte.toUnsignedInt(picture.rgb()[3 * (v * picture.width() + u) + 1]);
    }

    /** Pixels of the ball, as a part of all: what is brighter than the night around it. */
    private static double covered(Picture picture) {
        long bright = 0;
        for (int v = 0; v < picture.height(); v++) {
            for (int u = 0; u < picture.width(); u++) {
                bright += green(picture, u, v) > 60 ? 1 : 0;
            }
        }
        return (double) bright / (picture.width() * picture.height());
    }

    @Test
    void theDefaultChangesNothing() throws BadVolumeException {
        Picture plain = showing.picture(BUDGET, RayView.shaded(scene, new Camera(33, 20)));
        assertThat(pictures(Display.DEFAULT).get(4).rgb()).isEqualTo(plain.rgb());
    }

    @Test
    void aSmallerPictureShowsTheSame() throws BadVolumeException {
        List<Picture> whole = pictures(Display.DEFAULT);
        List<Picture> small = pictures(new Display(128, 1, 0.5, 1));
        for (int i = 0; i < whole.size(); i++) {
            assertThat(small.get(i).width()).isEqualTo(128);
            assertThat(covered(small.get(i))).as("view %d", i).isBetween(0.05, 0.95);
            assertThat(Math.abs(covered(small.get(i)) - covered(whole.get(i))))
                    .as("view %d", i)
                    .isLessThan(0.02);
        }
    }

    @Test
    void zoomMagnifiesAroundTheCentre() throws BadVolumeException {
        List<Picture> whole = pictures(new Display(256, 1, 0.5, 1));
        List<Picture> half = pictures(new Display(256, 0.5, 0.5, 1));
        for (int i = 0; i < whole.size(); i++) {
            assertThat(covered(half.get(i)) / covered(whole.get(i)))
                    .as("area in view %d", i)
                    .isBetween(0.2, 0.3);
            assertThat(green(half.get(i), 128, 128))
                    .as("the centre of view %d", i)
                    .isGreaterThan(60);
            assertThat(green(half.get(i), 8, 128)).as("the edge of view %d", i).isLessThan(60);
        }
    }

    @Test
    void aHigherLevelIsDarkerAndANarrowWindowHasMoreContrast() throws BadVolumeException {
        for (int view = 0; view < 4; view++) { // maxima
            long plain = sum(pictures(new Display(64, 1, 0.5, 1)).get(view));
            assertThat(sum(pictures(new Display(64, 1, 0.8, 1)).get(view))).isLessThan(plain);
            assertThat(sum(pictures(new Display(64, 1, 0.2, 1)).get(view))).isGreaterThan(plain);
            assertThat(between(pictures(new Display(64, 1, 0.5, 0.1)).get(view)))
                    .isLessThan(between(pictures(new Display(64, 1, 0.5, 1)).get(view)));
        }
        assertThat(covered(pictures(new Display(64, 1, 0.9, 0.2)).get(4)))
                .as("what is visible of what is shaded")
                .isLessThan(covered(pictures(new Display(64, 1, 0.5, 1)).get(4)));
    }

    private static long sum(Picture picture) {
        long sum = 0;
        for (byte value : picture.rgb()) {
            sum += Byte.toUnsignedInt(value);
        }
        return sum;
    }

    /** Returns how many pixels are neither black nor white. */
    private static long between(Picture picture) {
        long grey = 0;
        for (byte value : picture.rgb()) {
            grey += value != 0 && value != -1 ? 1 : 0;
        }
        return grey;
    }

    @Test
    void whatIsOutOfRangeIsNamed() {
        assertThatThrownBy(() -> new Display(100, 1, 0.5, 1))
                .hasMessage("side must be a multiple of 16 from 64 to 512 pixels, was 100");
        assertThatThrownBy(() -> new Display(1024, 1, 0.5, 1)).hasMessageContaining("was 1024");
        assertThatThrownBy(() -> new Display(512, 0, 0.5, 1)).hasMessageContaining("zoom must be");
        assertThatThrownBy(() -> new Display(512, 1, Double.NaN, 1)).hasMessageContaining("level must be");
        assertThatThrownBy(() -> new Display(512, 1, 0.5, -1)).hasMessageContaining("window must be");
    }
}
