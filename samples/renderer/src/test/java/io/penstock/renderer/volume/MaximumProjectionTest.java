// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class MaximumProjectionTest {

    private static final int[] BUDGETS = {5_000, 7_777, 20_000, 1 << 20};

    @ParameterizedTest
    @MethodSource("io.penstock.renderer.volume.NiftiHeaderTest#typesAndOrders")
    void everyBudgetGivesThePictureOfTheWholeVolume(VoxelType type, ByteOrder order) throws Exception {
        Showing showing = new Showing(Phantom.ball(type, order, 29, 17, 23));
        Showing bytes = new Showing(Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 29, 17, 23));
        for (int world = 0; world < 3; world++) {
            Picture whole = reference(Phantom.ball(type, order, 29, 17, 23), world);
            for (int budget : BUDGETS) {
                Picture picture =
                        showing.picture(budget, new MaximumProjection(showing.header(), world, Display.DEFAULT));
                assertThat(picture.rgb())
                        .as("%s, budget %d", "xyz".charAt(world), budget)
                        .isEqualTo(whole.rgb());
            }
            if (type != VoxelType.INT8) { // whose phantom is cut off at 120
                assertThat(whole.rgb())
                        .isEqualTo(bytes.picture(1 << 20, new MaximumProjection(bytes.header(), world, Display.DEFAULT))
                                .rgb());
            }
        }
    }

    @Test
    void signedAndUnsignedExtremesAreReported() throws Exception {
        assertBrightest(VoxelType.UINT8, 255, 127);
        assertBrightest(VoxelType.INT8, 127, -128);
        assertBrightest(VoxelType.UINT16, 65535, 32767);
        assertBrightest(VoxelType.INT16, 32767, -32768);
        assertBrightest(VoxelType.FLOAT32, 1e-30, -1e30);
    }

    @Test
    void theLastVoxelOfARowCountsHoweverLongTheRowIs() throws Exception {
        for (int columns = 4; columns < 9; columns++) {
            int last = columns - 1;
            Phantom edge = new Phantom(
                    VoxelType.UINT8,
                    ByteOrder.LITTLE_ENDIAN,
                    columns,
                    8,
                    8,
                    (x, y, z) -> x == last && y < 4 ? 200 : 10);
            assertThat(Math.abs(grey(edge, 0, 0.2) - grey(edge, 0, 0.8)))
                    .as("%d columns", columns)
                    .isGreaterThan(100);
        }
    }

    @Test
    void nothingIsBrighterThanNaN() throws Exception {
        Phantom holes =
                new Phantom(VoxelType.FLOAT32, ByteOrder.LITTLE_ENDIAN, 4, 4, 4, (x, y, z) -> x < 2 ? Double.NaN : x);
        assertThat(grey(holes, 1, 0.1)).isGreaterThan(150); // +x is the patient's right: the viewer's left
        assertThat(grey(holes, 1, 0.9)).isZero();
    }

    @Test
    void aNegativeSlopeTurnsBrightnessRound() throws Exception {
        Phantom phantom = new Phantom(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 8, 8, 8, (x, y, z) -> x < 4 ? 10 : 90);
        assertThat(grey(phantom, 1, 0.2)).isGreaterThan(grey(phantom, 1, 0.8));
        phantom.slope(-1);
        assertThat(grey(phantom, 1, 0.2)).isLessThan(grey(phantom, 1, 0.8));
    }

    @ParameterizedTest
    @EnumSource(VoxelType.class)
    void aVolumeOfOneValueIsBlack(VoxelType type) throws Exception {
        Phantom flat = new Phantom(type, ByteOrder.LITTLE_ENDIAN, 3, 3, 3, (x, y, z) -> 7);
        assertThat(grey(flat, 0, 0.5)).isZero();
    }

    @Test
    void viewsAreUprightWhateverTheOrderOfAxesInTheFile() throws Exception {
        // A bright nose at anterior superior right, in a file whose axes are canonical, and in one turned round.
        Phantom canonical = new Phantom(
                VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 9, 9, 9, (x, y, z) -> x > 6 && y > 6 && z > 6 ? 200 : 10);
        Phantom turned = new Phantom(
                        VoxelType.UINT8,
                        ByteOrder.LITTLE_ENDIAN,
                        9,
                        9,
                        9,
                        (x, y, z) -> x < 2 && y > 6 && z < 2 ? 200 : 10)
                .sform(0, 0, -1, -1, 0, 0, 0, 1, 0); // i posterior, j superior, k left
        for (int world = 0; world < 3; world++) {
            Showing a = new Showing(canonical);
            Showing b = new Showing(turned);
            assertThat(b.picture(1 << 20, new MaximumProjection(b.header(), world, Display.DEFAULT))
                            .rgb())
                    .isEqualTo(a.picture(1 << 20, new MaximumProjection(a.header(), world, Display.DEFAULT))
                            .rgb());
        }
        assertThat(grey(canonical, 0, 0.12))
                .as("from the left the face is on the left")
                .isGreaterThan(200);
        assertThat(grey(canonical, 1, 0.12))
                .as("from the front the right is on the left")
                .isGreaterThan(200);
        assertThat(grey(canonical, 2, 0.88))
                .as("from above the right is on the right")
                .isGreaterThan(200);
    }

    private static void assertBrightest(VoxelType type, double high, double low) throws Exception {
        Phantom phantom = new Phantom(type, ByteOrder.BIG_ENDIAN, 8, 8, 8, (x, y, z) -> x < 4 ? low : high);
        assertThat(grey(phantom, 1, 0.2)).as(type + " high").isEqualTo(255);
        assertThat(grey(phantom, 1, 0.8)).as(type + " low").isZero();
    }

    /** Returns the grey at a place across the picture, near its top. */
    private static int grey(Phantom phantom, int world, double across) throws Exception {
        Showing showing = new Showing(phantom);
        Picture picture = showing.picture(1 << 20, new MaximumProjection(showing.header(), world, Display.DEFAULT));
        int x = (int) (across * picture.width());
        int y = (int) (0.12 * picture.height());
        return picture.rgb()[3 * (y * picture.width() + x)] & 0xff;
    }

    private static Picture reference(Phantom phantom, int world) throws BadVolumeException {
        NiftiHeader header = phantom.header();
        int width = world == 0 ? 17 : 29;
        float[] maxima = new float[29 * 17 * 23 / (world == 0 ? 29 : world == 1 ? 17 : 23)];
        Arrays.fill(maxima, Float.NEGATIVE_INFINITY);
        for (int voxel = 0; voxel < 29 * 17 * 23; voxel++) {
            int x = voxel % 29;
            int y = voxel / 29 % 17;
            int z = voxel / 29 / 17;
            int line = (world == 2 ? y : z) * width + (world == 0 ? y : x);
            maxima[line] = Math.max(maxima[line], value(phantom, header, voxel));
        }
        return ProjectionPlane.Upright.of(header, world, Display.DEFAULT, maxima);
    }

    private static float value(Phantom phantom, NiftiHeader header, int voxel) {
        int at = 352 + voxel * header.type().bytes();
        return switch (header.type()) {
            case UINT8 -> phantom.file.get(at) & 0xff;
            case INT8 -> phantom.file.get(at);
            case UINT16 -> phantom.file.getShort(at) & 0xffff;
            case INT16 -> phantom.file.getShort(at);
            case FLOAT32 -> phantom.file.getFloat(at);
        };
    }
}
