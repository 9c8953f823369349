// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.cli.ffi.TerminalWidth;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import me.tongfei.progressbar.ProgressState;
import org.jspecify.annotations.Nullable;

/**
 * Shows progress on standard error: on a terminal one line that changes, of steps that take longer than half a second;
 * elsewhere nothing but {@link #line}. Thread-safe.
 */
public final class Progress {

    private static final int STANDARD_ERROR = 2;
    private static final int EVERY_MILLIS = 100;
    private static final long SILENT_NANOS = 500_000_000;
    private static final double MOST_NANOS = 100 * 3600e9;
    private static final long LEAST_RATED_BYTES = 1 << 20;
    private static final int BAR_COLUMNS = 53; // of a bar that is legible, with its percentage, bytes and times
    private static final int LEAST_MESSAGE = 10; // a rate

    private final LongSupplier nanoTime;
    private final PrintStream to;
    private final Line line;

    private long beganNanos;
    private long lastDone = Long.MAX_VALUE;
    private @Nullable ProgressBar bar;
    private boolean hooked;
    private boolean over;

    /** Creates an instance that shows nothing if standard error is not a terminal. */
    public Progress() {
        this(System.err, System::nanoTime, () -> columns(STANDARD_ERROR));
    }

    /** Same, with the place, the clock, and the width, which may change; it is negative where there is no terminal. */
    Progress(PrintStream to, LongSupplier nanoTime, IntSupplier columns) {
        this.to = to;
        this.nanoTime = nanoTime;
        this.line = new Line(to, columns);
    }

    /** Returns how wide what a descriptor refers to is; negative if it is no terminal. */
    static int columns(int fd) {
        int found = TerminalWidth.of(fd);
        return found == 0 ? Penstock.columns(System.getenv("COLUMNS")) : found;
    }

    /** Returns whether steps are shown. */
    boolean isShown() {
        return line.columns.getAsInt() >= 0;
    }

    /**
     * Shows a step: its share, its rate and the time left. A step begins where {@code done} is less than half of what
     * it was.
     *
     * @param what the step, and the path of its bytes if it is known
     * @param done bytes so far
     * @param total all bytes
     */
    public synchronized void step(String what, long done, long total) {
        if (isDue(done)) {
            show(rate(done, nanoTime.getAsLong() - beganNanos) + ", " + what, done / 1000, total / 1000, " MB");
        }
    }

    /** Shows a step that is measured by thousandths of another unit: its share and the time left. */
    synchronized void share(String what, long done, long total, String unit) {
        if (isDue(done)) {
            show(what, done, total, unit);
        }
    }

    private boolean isDue(long done) {
        long now = nanoTime.getAsLong();
        if (done < lastDone / 2) { // slightly less is a late report of another thread
            clear();
            beganNanos = now;
            lastDone = done;
        }
        lastDone = Math.max(lastDone, done);
        return !over && now - beganNanos >= SILENT_NANOS && (bar != null || isShown());
    }

    private void show(String message, long done, long total, String unit) {
        if (bar == null) {
            endWithTheJvm();
            bar = new ProgressBarBuilder()
                    .setInitialMax(total)
                    .startsFrom(done, Duration.ofNanos(nanoTime.getAsLong() - beganNanos))
                    .setUnit(unit, 1000)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setUpdateIntervalMillis(EVERY_MILLIS)
                    .continuousUpdate()
                    .setEtaFunction(Progress::left)
                    .setConsumer(line)
                    .build();
        }
        bar.setExtraMessage(shortened(TextTable.plain(message))).stepTo(Math.max(done, bar.getCurrent()));
    }

    /** Returns what of a message leaves room for the bar, which the library cuts first. */
    private String shortened(String message) {
        int room = Math.max(LEAST_MESSAGE, line.columns.getAsInt() - BAR_COLUMNS);
        return message.length() <= room ? message : message.substring(0, room).replaceFirst(",[^,]*$", "");
    }

    /**
     * Returns the time left, as of the beginning; the library's own is as of the building of the bar, with no rate yet.
     */
    private static Optional<Duration> left(ProgressState state) {
        double left = (double) (state.getMax() - state.getCurrent()) / state.getCurrent();
        double nanos = left * state.getTotalElapsed().toNanos();
        return nanos < MOST_NANOS ? Optional.of(Duration.ofNanos((long) nanos)) : Optional.empty();
    }

    /** Shows a permanent line. */
    public synchronized void line(String text) {
        clear();
        to.println(text);
    }

    private void endWithTheJvm() {
        if (!hooked) {
            hooked = true;
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(this::end));
            } catch (IllegalStateException e) {
                over = true; // the JVM is ending: this is the last step that is shown
            }
        }
    }

    /** Clears the changing line for good: after Ctrl-C the shell's prompt follows, while steps may still be reported. */
    synchronized void end() {
        over = true;
        clear();
    }

    /** Clears the changing line, before other output or an exception. */
    public synchronized void clear() {
        if (bar != null) {
            bar.close();
            bar = null;
            line.clear();
        }
    }

    /** Returns a rate behind the word "at"; nothing of bytes so few that only the beginning is measured. */
    static String at(long bytes, long nanos) {
        return bytes < LEAST_RATED_BYTES ? "" : " at " + rate(bytes, nanos);
    }

    /** Returns a rate as text. */
    public static String rate(long bytes, long nanos) {
        double rate = (double) bytes / Math.max(nanos, 1);
        if (rate >= 0.1) {
            return String.format(Locale.ROOT, "%.2f GB/s", rate);
        }
        return rate >= 1e-4
                ? String.format(Locale.ROOT, "%.2f MB/s", rate * 1e3)
                : String.format(Locale.ROOT, "%.2f kB/s", rate * 1e6);
    }

    /** Where a bar is drawn: a line that wraps could not be cleared, and one that is closed does not stay. */
    private static final class Line extends ConsoleProgressBarConsumer {

        private static final int INTERRUPT_COLUMNS = 2; // of ^C, which a terminal shows behind the bar

        private final PrintStream to;
        private final IntSupplier columns;

        private Line(PrintStream to, IntSupplier columns) {
            super(to);
            this.to = to;
            this.columns = columns;
        }

        @Override
        public int getMaxRenderedLength() {
            return columns.getAsInt() - 1 - INTERRUPT_COLUMNS;
        }

        @Override
        public void clear() {
            to.print("\r" + " ".repeat(Math.max(0, columns.getAsInt() - 1)) + "\r");
        }

        @Override
        public void close() {}
    }
}
