// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.ImageRegion;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ImageBoxesTest {

    /** Rows of 5 texels of 2 bytes in pitches of 12, slices of 3 rows in pitches of 40. */
    private static final ImageRegion REGION = new ImageRegion(
            1,
            0,
            new ImageRegion.Texels(0, 0, 0),
            new ImageRegion.Texels(5, 3, 4),
            new ImageRegion.Layout(0, 2, 12, 40));

    private static List<String> boxes(ImageBoxes boxes, long offset, long bytes) {
        List<String> found = new ArrayList<>();
        boxes.cut(offset, bytes);
        while (boxes.next()) {
            found.add(boxes.offset() + ": " + boxes.columns() + " x " + boxes.rows() + " x " + boxes.slices() + " at "
                    + boxes.column() + "," + boxes.row() + "," + boxes.slice());
        }
        return found;
    }

    @Test
    void wholeSlicesAreOneBoxThenWholeRowsThenAPartOfARow() {
        ImageBoxes boxes = new ImageBoxes(REGION, true, true);
        assertThat(boxes(boxes, 0, 160)).containsExactly("0: 5 x 3 x 4 at 0,0,0");
        assertThat(boxes(boxes, 40, 80 + 24 + 5))
                .containsExactly("40: 5 x 3 x 2 at 0,0,1", "120: 5 x 2 x 1 at 0,0,3", "144: 2 x 1 x 1 at 0,2,3");
    }

    @Test
    void aSegmentTooLargeForOneCallIsSplit() {
        assertThat(boxes(new ImageBoxes(REGION, true, false), 0, 80))
                .containsExactly("0: 5 x 3 x 1 at 0,0,0", "40: 5 x 3 x 1 at 0,0,1");
        assertThat(boxes(new ImageBoxes(REGION, false, true), 0, 40))
                .containsExactly("0: 5 x 1 x 1 at 0,0,0", "12: 5 x 1 x 1 at 0,1,0", "24: 5 x 1 x 1 at 0,2,0");
    }

    @Test
    void aBeginningAmidARowIsItsRest() {
        assertThat(boxes(new ImageBoxes(REGION, true, true), 6, 34))
                .containsExactly("6: 2 x 1 x 1 at 3,0,0", "12: 5 x 2 x 1 at 0,1,0");
    }

    @Test
    void paddingBetweenRowsAndSlicesIsInNoBox() {
        assertThat(boxes(new ImageBoxes(REGION, true, true), 10, 2)).isEmpty();
        assertThat(boxes(new ImageBoxes(REGION, true, true), 34, 8)).containsExactly("40: 1 x 1 x 1 at 0,0,1");
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, false"})
    void howeverBytesComeEachTexelIsFilledOnce(boolean severalRows, boolean severalSlices) {
        Random random = new Random(1);
        for (int run = 0; run < 200; run++) {
            int[] filled = new int[5 * 3 * 4];
            ImageBoxes boxes = new ImageBoxes(REGION, severalRows, severalSlices);
            for (long done = 0; done < 160; ) {
                long bytes = Math.min(160 - done, 2L * (1 + random.nextInt(60)));
                boxes.cut(done, bytes);
                while (boxes.next()) {
                    count(boxes, filled);
                }
                done += bytes;
            }
            assertThat(filled).containsOnly(1);
        }
    }

    private static void count(ImageBoxes boxes, int[] filled) {
        for (int z = 0; z < boxes.slices(); z++) {
            for (int y = 0; y < boxes.rows(); y++) {
                for (int x = 0; x < boxes.columns(); x++) {
                    int texel = ((boxes.slice() + z) * 3 + boxes.row() + y) * 5 + boxes.column() + x;
                    filled[texel]++;
                    long from = boxes.offset() + z * 40L + y * 12L + x * 2L;
                    assertThat(from)
                            .isEqualTo((boxes.slice() + z) * 40L + (boxes.row() + y) * 12L + (boxes.column() + x) * 2L);
                }
            }
        }
    }
}
