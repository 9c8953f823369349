// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;

class RegionTest {

    private static final Path PATH = Path.of("/data/weights.bin"); // \\data\\weights.bin on Windows

    private final StorageFile file = Untouched.file(PATH.toString(), 1000);
    private final DeviceBuffer buffer = Untouched.buffer(1000);

    @Test
    void aFileRegionMayReachBeyondTheEndOfTheFile() {
        FileRegion region = file.region(900, 500);
        assertThat(region.offset()).isEqualTo(900);
        assertThat(region.length()).isEqualTo(500);
        assertThat(region.end()).isEqualTo(1400);
        assertThat(file.all()).isEqualTo(file.region(0, 1000));
    }

    @Test
    void aFileRegionMayEndAtTheLargestOffset() {
        assertThat(file.region(Long.MAX_VALUE - 5, 5).end()).isEqualTo(Long.MAX_VALUE);
        assertThat(file.region(Long.MAX_VALUE, 0).length()).isZero();
    }

    @Test
    void anInvalidFileRegionIsNamedWithItsFile() {
        for (long[] bad : new long[][] {{-1, 1}, {0, -1}, {Long.MAX_VALUE - 5, 6}, {1, Long.MAX_VALUE}}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> file.region(bad[0], bad[1]))
                    .withMessage("offset and length of a region must be at least 0, and end within a long, were "
                            + bad[0] + " and " + bad[1] + ", of " + PATH);
        }
    }

    @Test
    void aSliceOfAFileRegionLiesInsideIt() {
        FileRegion region = file.region(100, 50);
        assertThat(region.slice(0, 50)).isEqualTo(region);
        assertThat(region.slice(20, 30)).isEqualTo(file.region(120, 30));
        assertThat(region.slice(50, 0)).isEqualTo(file.region(150, 0));
        assertOutside(() -> region.slice(20, 31));
        assertOutside(() -> region.slice(-1, 1));
        assertOutside(() -> region.slice(51, 0));
        assertOutside(() -> region.slice(1, Long.MAX_VALUE));
    }

    @Test
    void aBufferRegionLiesInsideItsBuffer() {
        assertThat(buffer.all()).isEqualTo(buffer.region(0, 1000));
        assertThat(buffer.region(1000, 0).length()).isZero();
        assertOutside(() -> buffer.region(0, 1001));
        assertOutside(() -> buffer.region(1, 1000));
        assertOutside(() -> buffer.region(-1, 1));
        assertOutside(() -> buffer.region(0, -1));
        assertOutside(() -> buffer.region(Long.MAX_VALUE, 1));
        assertOutside(() -> buffer.region(1, Long.MAX_VALUE));
    }

    @Test
    void aSliceOfABufferRegionLiesInsideIt() {
        BufferRegion region = buffer.region(100, 50);
        assertThat(region.slice(20, 30)).isEqualTo(buffer.region(120, 30));
        assertOutside(() -> region.slice(0, 51)); // inside the buffer, but not inside the region
        assertOutside(() -> region.slice(-100, 50));
    }

    @Test
    void aRegionIsOfSomething() {
        assertThatNullPointerException()
                .isThrownBy(() -> new FileRegion(null, 0, 0))
                .withMessage("file");
        assertThatNullPointerException()
                .isThrownBy(() -> new BufferRegion(null, 0, 0))
                .withMessage("buffer");
    }

    @Test
    void anImageRegionIsAsLongAsItsSlicesLieInTheFile() {
        assertThat(image(3, 2, 5, 12, 24).length()).isEqualTo(120);
        assertThat(image(3, 2, 5, 16, 100).length()).isEqualTo(500);
    }

    @Test
    void anImageRegionNeedsRoomForItsRowsAndSlices() {
        assertNoImage(3, 2, 5, 11, 24, "too small");
        assertNoImage(3, 2, 5, 12, 23, "too small");
        assertNoImage(Integer.MAX_VALUE, 1, 1, Integer.MAX_VALUE, Long.MAX_VALUE, "too small");
        assertNoImage(3, Integer.MAX_VALUE, 1, Long.MAX_VALUE / 2, Long.MAX_VALUE, "too small");
        assertNoImage(3, 2, 5, 12, Long.MAX_VALUE / 4, "too large");
    }

    @Test
    void anImageRegionHasTexels() {
        assertNoImage(0, 2, 5, 12, 24, "extent");
        assertNoImage(3, 0, 5, 12, 24, "extent");
        assertNoImage(3, 2, 0, 12, 24, "extent");
        ImageRegion.Texels one = new ImageRegion.Texels(1, 1, 1);
        ImageRegion.Layout none = new ImageRegion.Layout(0, 0, 12, 24);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ImageRegion(7, 0, new ImageRegion.Texels(0, 0, 0), one, none));
    }

    @Test
    void anImageRegionStartsInsideTheImage() {
        ImageRegion.Texels one = new ImageRegion.Texels(1, 1, 1);
        ImageRegion.Layout layout = new ImageRegion.Layout(0, 4, 4, 4);
        for (int[] bad : new int[][] {{-1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, -1}}) {
            ImageRegion.Texels origin = new ImageRegion.Texels(bad[1], bad[2], bad[3]);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new ImageRegion(7, bad[0], origin, one, layout))
                    .withMessageContaining("level and origin must be at least 0, were " + bad[0])
                    .withMessageContaining(origin.toString());
        }
    }

    private static ImageRegion image(int x, int y, int z, long rowPitch, long slicePitch) {
        return new ImageRegion(
                7,
                0,
                new ImageRegion.Texels(1, 2, 3),
                new ImageRegion.Texels(x, y, z),
                new ImageRegion.Layout(0x8058, 4, rowPitch, slicePitch));
    }

    private static void assertNoImage(int x, int y, int z, long rowPitch, long slicePitch, String why) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> image(x, y, z, rowPitch, slicePitch))
                .withMessageContaining(why);
    }

    private static void assertOutside(ThrowableAssert.ThrowingCallable region) {
        assertThatThrownBy(region).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
