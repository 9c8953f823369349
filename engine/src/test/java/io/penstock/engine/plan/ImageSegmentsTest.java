// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import static io.penstock.engine.plan.SegmentLines.BLOCKS;
import static io.penstock.engine.plan.SegmentLines.limits;
import static io.penstock.engine.plan.SegmentLines.plan;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.ImageRegion;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import org.junit.jupiter.api.Test;

class ImageSegmentsTest {

    private final StorageFile file = new NamedFile("a", 1);

    @Test
    void imagesAreCutBetweenSlicesElseBetweenRows() {
        assertThat(plan(image(100, 3000, 9000, 4), limits(1, 1, 20000, false)))
                .containsExactly("BODY 100 -> 0: 18000 pair 0", "BODY 18100 -> 18000: 18000 pair 0");
        assertThat(plan(image(0, 3000, 9000, 2), limits(1, 1, 7000, false)))
                .containsExactly(
                        "BODY 0 -> 0: 6000 pair 0",
                        "BODY 6000 -> 6000: 3000 pair 0",
                        "BODY 9000 -> 9000: 6000 pair 0",
                        "BODY 15000 -> 15000: 3000 pair 0");
    }

    @Test
    void aRowThatIsLongerThanASegmentIsCutInside() {
        assertThat(plan(image(0, 5000, 10000, 1), limits(1, 1, 4000, false)))
                .containsExactly(
                        "BODY 0 -> 0: 4000 pair 0",
                        "BODY 4000 -> 4000: 1000 pair 0",
                        "BODY 5000 -> 5000: 4000 pair 0",
                        "BODY 9000 -> 9000: 1000 pair 0");
    }

    @Test
    void aRowIsCutBetweenTexels() {
        assertThat(plan(image(0, 5000, 5000, 1, 12), limits(1, 1, 4096, false)))
                .containsExactly("BODY 0 -> 0: 4092 pair 0", "BODY 4092 -> 4092: 908 pair 0");
        // At a block it would be cut amid a texel.
        assertThat(plan(image(0, 12288, 12288, 1, 12), limits(4096, 1, 8192, false)))
                .containsExactly("BOUNCE 0 -> 0: 12288 in 0 + 12288 pair 0");
        assertThat(plan(image(0, 12288, 12288, 1, 4), limits(4096, 1, 8192, false)))
                .containsExactly("BODY 0 -> 0: 8192 pair 0", "BODY 8192 -> 8192: 4096 pair 0");
    }

    @Test
    void imageRowsThatAreNotBlocksBounceAsWholeRows() {
        assertThat(plan(image(100, 7000, 21000, 1), BLOCKS))
                .containsExactly(
                        "BOUNCE 100 -> 0: 14000 in 0 + 16384 pair 0",
                        "BOUNCE 14100 -> 14000: 7000 in 12288 + 12288 pair 0");
    }

    private Transfer image(long fileOffset, long rowPitch, long slicePitch, int slices) {
        return image(fileOffset, rowPitch, slicePitch, slices, 4);
    }

    private Transfer image(long fileOffset, long rowPitch, long slicePitch, int slices, int texelBytes) {
        ImageRegion region = new ImageRegion(
                1,
                0,
                new ImageRegion.Texels(0, 0, 0),
                new ImageRegion.Texels(100, (int) (slicePitch / rowPitch), slices),
                new ImageRegion.Layout(0, texelBytes, rowPitch, slicePitch));
        return Transfer.read(file.region(fileOffset, region.length()), region);
    }
}
