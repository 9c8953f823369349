// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Maximum intensity from any angle, against what is known of volumes without any rays. */
class MaximumViewTest {

    private static final int SIDE = Picture.SIDE;
    private static final long BUDGET = 60_000;

    private static final int[] EXTENTS = {33, 27, 21};

    private static final double[] SPACING = {1, 1.5, 0.75};

    private static Picture maximum(Showing showing, Camera camera) throws BadVolumeException {
        return showing.picture(BUDGET, RayView.maximum(showing.scene(BUDGET), camera));
    }

    private static int grey(Picture picture, int pixel) {
        assertThat(picture.rgb()[3 * pixel]).isEqualTo(picture.rgb()[3 * pixel + 1]);
        assertThat(picture.rgb()[3 * pixel]).isEqualTo(picture.rgb()[3 * pixel + 2]);
        return picture.rgb()[3 * pixel] & 0xff;
    }

    private static Phantom phantom(Phantom.Shape shape) {
        return new Phantom(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, EXTENTS[0], EXTENTS[1], EXTENTS[2], shape)
                .spacing(SPACING[0], SPACING[1], SPACING[2]);
    }

    /**
     * From where x, y and z are projected from, a ray runs along one axis. Where nothing changes along that axis, the
     * largest value of the ray is the value of the projection, interpolated between four lines.
     */
    @ParameterizedTest
    @CsvSource({"0, 90, 0", "1, 0, 0", "2, 180, 90", "0, -90, 0", "1, 180, 0", "2, 0, 90", "2, 0, -90"})
    void alongAnAxisItIsTheProjection(int world, double azimuth, double elevation) throws Exception {
        Showing showing = new Showing(phantom((x, y, z) -> {
            int[] at = {x, y, z};
            at[world] = 0;
            return 40 + 20 * ((at[0] * 7 + at[1] * 5 + at[2] * 3) % 10);
        }));
        Scene scene = showing.scene(BUDGET);
        Picture picture = showing.picture(BUDGET, RayView.maximum(scene, new Camera(azimuth, elevation)));
        int inside = 0;
        for (int pixel = 0; pixel < SIDE * SIDE; pixel++) {
            double[] at = position(scene, azimuth, elevation, pixel % SIDE, pixel / SIDE);
            double expected = interpolated(at, world);
            if (expected > 0) {
                int grey = scene.window().grey(scene.window().brightness((float) expected)) & 0xff;
                assertThat(grey(picture, pixel)).as("pixel %d", pixel).isCloseTo(grey, within(1));
                inside++;
            }
        }
        assertThat(inside).isGreaterThan(SIDE * SIDE / 10);
    }

    /** Returns the voxel position under a pixel, in the plane through the middle of the scene. */
    private static double[] position(Scene scene, double azimuth, double elevation, int u, int v) {
        double[][] screen = screen(azimuth, elevation);
        double pixel = scene.view() / SIDE;
        double[] at = new double[3];
        for (int axis = 0; axis < 3; axis++) {
            double space = (u - (SIDE - 1) / 2.0) * screen[0][axis] - (v - (SIDE - 1) / 2.0) * screen[1][axis];
            at[axis] = scene.center()[axis] - CoarseMap.PAD + space * pixel / SPACING[axis];
        }
        return at;
    }

    /**
     * Returns right and up on the screen of an observer who was led around the patient, then up; nose and head up at
     * first.
     */
    private static double[][] screen(double azimuth, double elevation) {
        double around = Math.toRadians(azimuth);
        double up = Math.toRadians(elevation);
        // In front of the face right is the patient's left, -x. Led to that side, the eye sees the nose, +y, on its
        // left.
        double[] right = {-Math.cos(around), -Math.sin(around), 0};
        double[] towardsEye = {-Math.sin(around) * Math.cos(up), Math.cos(around) * Math.cos(up), Math.sin(up)};
        double[] above = {
            towardsEye[1] * right[2] - towardsEye[2] * right[1],
            towardsEye[2] * right[0] - towardsEye[0] * right[2],
            towardsEye[0] * right[1] - towardsEye[1] * right[0]
        };
        return new double[][] {right, above};
    }

    /** Returns the phantom's value between four lines, or -1 at and outside its border. */
    private static double interpolated(double[] at, int world) {
        double sum = 0;
        for (int corner = 0; corner < 4; corner++) {
            double share = 1;
            int[] voxel = new int[3];
            int bit = 0;
            for (int axis = 0; axis < 3; axis++) {
                if (axis != world) {
                    int low = (int) Math.floor(at[axis]);
                    if (low < 0 || low + 1 >= EXTENTS[axis]) {
                        return -1;
                    }
                    boolean high = (corner >> bit++ & 1) == 1;
                    voxel[axis] = high ? low + 1 : low;
                    share *= high ? at[axis] - low : low + 1 - at[axis];
                }
            }
            sum += share * (40 + 20 * ((voxel[0] * 7 + voxel[1] * 5 + voxel[2] * 3) % 10));
        }
        return sum;
    }

    @ParameterizedTest
    @CsvSource({"33, 20", "215, -40", "90, 0", "300, 75", "0, 0"})
    void aBrightSpotShowsThroughAllThatLiesBeforeIt(double azimuth, double elevation) throws Exception {
        int[] bright = {9, 19, 6};
        Showing showing = new Showing(phantom((x, y, z) -> {
            int far = Math.max(Math.abs(x - bright[0]), Math.max(Math.abs(y - bright[1]), Math.abs(z - bright[2])));
            return far < 2 ? 250 : x == 0 ? 10 : 100 + x % 2;
        }));
        Scene scene = showing.scene(BUDGET);
        Picture picture = showing.picture(BUDGET, RayView.maximum(scene, new Camera(azimuth, elevation)));
        double[][] screen = screen(azimuth, elevation);
        double[] expected = new double[2];
        for (int i = 0; i < 2; i++) {
            for (int axis = 0; axis < 3; axis++) {
                double space = (bright[axis] + CoarseMap.PAD - scene.center()[axis]) * SPACING[axis];
                expected[i] += space * screen[i][axis] * SIDE / scene.view();
            }
        }
        double right = 0;
        double up = 0;
        int pixels = 0;
        for (int pixel = 0; pixel < SIDE * SIDE; pixel++) {
            int row = pixel / SIDE;
            if (grey(picture, pixel) > 240) {
                right += pixel % SIDE - (SIDE - 1) / 2.0;
                up += (SIDE - 1) / 2.0 - row;
                pixels++;
            }
        }
        double voxel = 0.75 * SIDE / scene.view(); // pixels across the least of a voxel's sides
        assertThat(pixels).isGreaterThan((int) (voxel * voxel));
        assertThat(right / pixels).as("to the right").isCloseTo(expected[0], within(voxel / 2));
        assertThat(up / pixels).as("up").isCloseTo(expected[1], within(voxel / 2));
        assertThat(Math.hypot(expected[0], expected[1])).as("off the middle").isGreaterThan(3 * voxel);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 30})
    void fromBehindItIsTheMirrorImage(double azimuth) throws Exception {
        Showing showing = new Showing(Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 41, 33, 37));
        Picture front = maximum(showing, new Camera(azimuth, 0));
        Picture back = maximum(showing, new Camera(azimuth + 180, 0));
        long off = 0;
        for (int pixel = 0; pixel < SIDE * SIDE; pixel++) {
            int mirrored = pixel / SIDE * SIDE + SIDE - 1 - pixel % SIDE;
            off += Math.abs(grey(front, pixel) - grey(back, mirrored)) > 8 ? 1 : 0;
        }
        assertThat(off).as("samples lie elsewhere on a ray from behind").isLessThan(SIDE * SIDE / 100);
        assertThat(front.rgb()).isNotEqualTo(back.rgb());
    }

    @Test
    void everyFrameHasTheSameGreys() throws Exception {
        // A bright pole of one voxel: from above hardly anything, from the front a line.
        Showing showing = new Showing(phantom((x, y, z) -> x == 16 && y == 13 ? 250 : x < 8 ? 120 : 20));
        int fromAbove = commonest(maximum(showing, new Camera(0, 90)));
        assertThat(commonest(maximum(showing, new Camera(0, 0)))).isEqualTo(fromAbove);
        assertThat(fromAbove).isBetween(40, 200);
    }

    /** Returns the grey of most pixels that are not black. */
    private static int commonest(Picture picture) {
        int[] pixels = new int[256];
        for (int pixel = 0; pixel < SIDE * SIDE; pixel++) {
            pixels[grey(picture, pixel)]++;
        }
        int most = 1;
        for (int grey = 1; grey < pixels.length; grey++) {
            most = pixels[grey] > pixels[most] ? grey : most;
        }
        return most;
    }

    @Test
    void aVolumeOfOneValueIsBlack() throws Exception {
        Picture picture = maximum(new Showing(phantom((x, y, z) -> 7)), new Camera(33, 20));
        assertThat(picture.rgb()).containsOnly(0);
    }
}
