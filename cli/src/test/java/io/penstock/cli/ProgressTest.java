// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressTest {

    private static final long SECOND = 1_000_000_000;
    private static final long GB = 1_000_000_000;

    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
    private final AtomicLong now = new AtomicLong(-5 * SECOND);
    private int columns = 80;
    private final Progress progress =
            new Progress(new PrintStream(shown, true, StandardCharsets.UTF_8), true, now::get, () -> columns);

    private String shown() {
        return shown.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aStepHasItsShareBytesRateAndTheTimeLeft() {
        progress.step("path STAGED, copying f", 0, 10 * GB);
        now.addAndGet(2 * SECOND);
        progress.step("path STAGED, copying f", 4 * GB, 10 * GB);
        assertThat(shown())
                .isEqualTo("\r[####........]  40 %  4.00 of 10.00 GB, 2.00 GB/s, 0:03 left, path STAGED, copy");
    }

    @Test
    void shortStepsAreNotShownAndOthersTenTimesASecond() {
        progress.share("x", 0, 100);
        now.addAndGet(SECOND / 4);
        progress.share("x", 10, 100);
        assertThat(shown()).isEmpty();
        now.addAndGet(SECOND / 4);
        progress.share("x", 20, 100);
        String first = shown();
        assertThat(first).isEqualTo("\r[##..........]  20 %  0:02 left, x");
        now.addAndGet(SECOND / 20);
        progress.share("x", 30, 100);
        assertThat(shown()).isEqualTo(first);
    }

    @Test
    void aStepThatBeginsHasATimeOfItsOwn() {
        progress.share("x", 0, 100);
        now.addAndGet(SECOND);
        progress.share("x", 90, 100);
        int length = shown.size();
        progress.share("y", 0, 100);
        now.addAndGet(SECOND / 4);
        progress.share("y", 10, 100);
        assertThat(shown()).as("not for half a second").hasSize(length);
        now.addAndGet(SECOND * 3 / 4);
        progress.share("y", 50, 100);
        assertThat(shown()).endsWith("50 %  0:01 left, y");
    }

    @Test
    void aLineIsNeverAsWideAsTheTerminalWhichMayChange() {
        progress.share("something long", 0, 10);
        now.addAndGet(SECOND);
        progress.share("something long", 5, 10);
        columns = 20;
        now.addAndGet(SECOND);
        progress.share("something long", 6, 10);
        assertThat(shown().split("\r")[2]).isEqualTo("[#######.....]  60 ");
    }

    @Test
    void theLineIsClearedBeforeOthers() {
        progress.step("x", 0, 10);
        now.addAndGet(SECOND);
        progress.step("x", 5, 10);
        progress.line("a result");
        String[] parts = shown().split("\r");
        assertThat(parts[2]).isBlank().hasSameSizeAs(parts[1]);
        assertThat(parts[3]).isEqualTo("a result" + System.lineSeparator());
    }

    @Test
    void withoutATerminalOnlyLinesAreShown() {
        Progress piped =
                new Progress(new PrintStream(shown, true, StandardCharsets.UTF_8), false, now::get, () -> columns);
        piped.step("x", 0, 10);
        now.addAndGet(SECOND);
        piped.step("x", 5, 10);
        piped.clear();
        assertThat(shown()).isEmpty();
        piped.line("a result");
        assertThat(shown()).isEqualTo("a result" + System.lineSeparator());
    }
}
