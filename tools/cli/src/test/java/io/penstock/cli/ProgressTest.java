// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The library draws by a thread of its own, and once more when the line is cleared: what was shown last is known then.
 */
class ProgressTest {

    private static final long SECOND = 1_000_000_000;
    private static final long GB = 1_000_000_000;

    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
    private final AtomicLong now = new AtomicLong(-5 * SECOND);
    private volatile int columns = 80;
    private final Progress progress =
            new Progress(new PrintStream(shown, true, StandardCharsets.UTF_8), now::get, () -> columns);

    @AfterEach
    void noBarStays() {
        progress.clear();
    }

    private String shown() {
        return shown.toString(StandardCharsets.UTF_8);
    }

    /** Clears the line, and returns what it held last. */
    private String last() {
        progress.clear();
        List<String> lines = shown().lines()
                .flatMap(line -> List.of(line.split("\r")).stream())
                .filter(line -> !line.isBlank())
                .toList();
        return lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    }

    @Test
    void aStepHasItsShareBytesRateAndTheTimeLeft() {
        columns = 100;
        progress.step("path STAGED, copying f", 0, 10 * GB);
        now.addAndGet(2 * SECOND);
        progress.step("path STAGED, copying f", 4 * GB, 10 * GB);
        assertThat(last())
                .matches(
                        " +40% \\[=+ +] +4000/10000 MB \\(0:00:0\\d / 0:00:0\\d\\) 2\\.00 GB/s, path STAGED, copying f");
    }

    @Test
    void aTimeLeftThatCannotBeToldIsNone() {
        progress.step("x", 0, 10 * GB);
        now.addAndGet(2 * SECOND);
        progress.step("x", 0, 10 * GB);
        assertThat(last()).contains(" / ?)");
        progress.step("x", 1000, 10 * GB);
        assertThat(last()).as("years").contains(" / ?)");
    }

    @Test
    void aStepOfAKnownTimeHasSeconds() {
        progress.share("1.00 GB, path HOST", 0, 5000, " s");
        now.addAndGet(2 * SECOND);
        progress.share("1.00 GB, path HOST", 2000, 5000, " s");
        assertThat(last()).matches(" +40% \\[=+ +] 2/5 s \\(0:00:0\\d / 0:00:0\\d\\) 1\\.00 GB, path HOST");
    }

    @Test
    void aNarrowTerminalHasABarAndTheRate() {
        columns = 60;
        progress.step("path STAGED, copying a file of a long name", 0, 10 * GB);
        now.addAndGet(2 * SECOND);
        progress.step("path STAGED, copying a file of a long name", 4 * GB, 10 * GB);
        assertThat(last()).matches(" +40% \\[=+ +] +4000/10000 MB \\(0:00:0\\d / 0:00:0\\d\\) 2\\.00 GB/s");
    }

    /** The command ends by Ctrl-C while another thread reports a step. */
    @Test
    void nothingIsShownBehindItsEnd() {
        progress.share("x", 0, 100000, "");
        now.addAndGet(SECOND);
        progress.share("x", 10000, 100000, "");
        progress.end();
        String cleared = shown();
        progress.share("x", 20000, 100000, "");
        progress.share("y", 0, 100000, "");
        now.addAndGet(SECOND);
        progress.share("y", 20000, 100000, "");
        assertThat(shown()).isEqualTo(cleared);
    }

    @Test
    void shortStepsAreNotShown() {
        progress.share("x", 0, 100000, "");
        now.addAndGet(SECOND / 4);
        progress.share("x", 10000, 100000, "");
        progress.clear();
        assertThat(shown()).isEmpty();
        now.addAndGet(SECOND / 4);
        progress.share("x", 20000, 100000, "");
        assertThat(last()).matches(" +20% \\[=+ +] +20/100 \\(0:00:0\\d / 0:00:0\\d\\) x");
    }

    @Test
    void aStepThatBeginsHasATimeOfItsOwn() {
        progress.share("x", 0, 100000, "");
        now.addAndGet(SECOND);
        progress.share("x", 90000, 100000, "");
        progress.share("y", 0, 100000, "");
        now.addAndGet(SECOND / 4);
        progress.share("y", 10000, 100000, "");
        assertThat(last()).as("not for half a second").endsWith(" x");
        now.addAndGet(SECOND * 3 / 4);
        progress.share("y", 50000, 100000, "");
        assertThat(last()).matches(" +50% .* / [^)]+\\) y");
    }

    @Test
    void aLateReportOfAnotherThreadDoesNotSetAStepBack() {
        progress.share("x", 0, 100000, "");
        now.addAndGet(SECOND);
        progress.share("x", 50000, 100000, "");
        progress.share("x", 45000, 100000, "");
        assertThat(last()).contains("50%");
    }

    @Test
    void aLineLeavesRoomForTheInterruptOfATerminalWhoseWidthMayChange() {
        progress.share("something long", 0, 10000, "");
        now.addAndGet(SECOND);
        progress.share("something long", 5000, 10000, "");
        columns = 20;
        progress.share("something long", 6000, 10000, "");
        assertThat(last()).hasSize(17).startsWith("  60% [").contains("] ");
        assertThat(shown()).as("the ^C behind it is cleared too").endsWith("\r" + " ".repeat(19) + "\r");
        columns = 1;
        progress.share("something long", 7000, 10000, "");
        progress.clear();
        assertThat(shown()).as("no room for a character").endsWith("\r");
    }

    @Test
    void aNameMayBeWideOrHoldWhatATerminalWouldActOn() {
        columns = 50;
        progress.share("\u6771\u4eac".repeat(20), 0, 10000, "");
        now.addAndGet(SECOND);
        progress.share("\u6771\u4eac".repeat(20), 5000, 10000, "");
        String wide = last();
        assertThat(wide.codePoints().map(c -> c < 128 ? 1 : 2).sum()).isLessThan(50);
        progress.share("a\u001b[31mb\nc", 6000, 10000, "");
        assertThat(last()).endsWith(" a?[31mb?c");
    }

    @Test
    void theLineIsClearedBeforeOthers() {
        progress.step("x", 0, 10);
        now.addAndGet(SECOND);
        progress.step("x", 5, 10);
        progress.line("a result");
        String out = shown();
        assertThat(out).endsWith("\r" + " ".repeat(79) + "\ra result" + System.lineSeparator());
        assertThat(out.indexOf('\n')).as("nothing but the result ends a line").isEqualTo(out.length() - 1);
    }

    @Test
    void withoutATerminalOnlyLinesAreShown() {
        columns = -1;
        assertThat(progress.isShown()).isFalse();
        progress.step("x", 0, 10);
        now.addAndGet(SECOND);
        progress.step("x", 5, 10);
        progress.clear();
        assertThat(shown()).isEmpty();
        progress.line("a result");
        assertThat(shown()).isEqualTo("a result" + System.lineSeparator());
    }
}
