// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("once")
@Tag("slow")
class RayViewTest {

    private static final List<Camera> CAMERAS =
            List.of(new Camera(0, 0), new Camera(0, 90), new Camera(33, 20), new Camera(215, -40));

    static Stream<Arguments> volumes() {
        return Stream.of(
                Arguments.of(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, new int[] {41, 33, 37}),
                Arguments.of(VoxelType.INT16, ByteOrder.BIG_ENDIAN, new int[] {20, 31, 60}),
                Arguments.of(VoxelType.FLOAT32, ByteOrder.LITTLE_ENDIAN, new int[] {110, 13, 9}),
                Arguments.of(VoxelType.INT8, ByteOrder.LITTLE_ENDIAN, new int[] {15, 16, 1}));
    }

    @ParameterizedTest
    @MethodSource("volumes")
    void everyBudgetGivesThePicturesOfTheWholeVolume(VoxelType type, ByteOrder order, int[] extents) throws Exception {
        Phantom phantom =
                Phantom.ball(type, order, extents[0], extents[1], extents[2]).spacing(1, 1.5, 0.75);
        Showing showing = new Showing(phantom);
        Scene scene = showing.scene(1 << 20);
        PlainRays plain = new PlainRays(scene, showing);
        int least = (extents[0] + 4) * (extents[1] + 4) * (8 + 2 * type.bytes());
        for (Camera camera : CAMERAS) {
            Picture shaded = plain.shaded(camera);
            Picture maximum = plain.maximum(camera);
            for (long budget : new long[] {least, 3L * least}) {
                Scene again = showing.scene(budget);
                Picture picture = showing.picture(budget, RayView.shaded(again, camera));
                assertThat(picture.rgb()).as("%s, budget %d", camera, budget).isEqualTo(shaded.rgb());
                picture = showing.picture(budget, RayView.maximum(again, camera));
                assertThat(picture.rgb())
                        .as("maximum, %s, budget %d", camera, budget)
                        .isEqualTo(maximum.rgb());
            }
        }
    }

    @Test
    void everyNumberOfThreadsGivesTheSamePicture() throws Exception {
        Showing showing = new Showing(Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 41, 33, 37));
        Picture first = null;
        for (int threads : new int[] {1, 2, 3, 7}) {
            ForkJoinPool pool = new ForkJoinPool(threads);
            try {
                Picture picture = pool.submit(() ->
                                showing.picture(60_000, RayView.shaded(showing.scene(60_000), new Camera(33, 20))))
                        .get();
                first = first == null ? picture : first;
                assertThat(picture.rgb()).as("%d threads", threads).isEqualTo(first.rgb());
            } finally {
                pool.shutdown();
            }
        }
    }

    @Test
    void aVolumeOfOneValueShowsNothingButTheNight() throws Exception {
        Showing flat = new Showing(new Phantom(VoxelType.INT16, ByteOrder.BIG_ENDIAN, 5, 5, 5, (x, y, z) -> -3));
        Picture picture = flat.picture(1 << 20, RayView.shaded(flat.scene(1 << 20), new Camera(10, 10)));
        assertThat(picture.rgb()[3 * (256 * 512 + 256)] & 0xff).isLessThan(40);
    }

    @Test
    void anglesThatAreNoneAreRefused() {
        assertThatThrownBy(() -> new Camera(Double.NaN, 0)).hasMessageContaining("azimuth must be finite, was NaN");
        assertThatThrownBy(() -> new Camera(0, 91))
                .hasMessageContaining("elevation must be from -90 to 90 degrees, was 91.0");
    }
}
