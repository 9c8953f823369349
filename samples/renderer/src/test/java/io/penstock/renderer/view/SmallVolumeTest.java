// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.renderer.volume.Phantom;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SmallVolumeTest {

    @TempDir
    Path folder;

    /** They cannot be larger than a budget: each view needs a few slices. */
    @ParameterizedTest
    @CsvSource({"64, 1", "64, 2", "64, 5", "3, 1"})
    void aVolumeOfFewSlicesIsShownWithTheBudgetThatItNeeds(int side, int slices) throws IOException {
        try (Shown shown = new Shown(folder, Phantom.noise(side, side, slices));
                Page page = shown.connect()) {
            Matcher needed = Pattern.compile("\"needed\":(\\d+)").matcher(page.next("\"type\":\"hello\""));
            assertThat(needed.find()).isTrue();
            long budget = Long.parseLong(needed.group(1));
            for (String view : List.of("x", "y", "z", "mip", "shaded")) {
                BufferedImage image = ImageIO.read(new ByteArrayInputStream(
                        page.with("view", view).with("budget", budget).frame()));
                assertThat(IntStream.range(0, 128 * 128)
                                .map(i -> image.getRGB(i % 128, i / 128))
                                .distinct()
                                .count())
                        .as("colours of " + view)
                        .isGreaterThan(1);
            }
            assertThat(page.with("budget", Math.max(budget + 1, 64L * side * side))
                            .error())
                    .contains("budget must be at most");
        }
    }
}
