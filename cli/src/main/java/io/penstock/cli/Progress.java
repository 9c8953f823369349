// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.cli.ffi.TerminalWidth;
import java.io.Console;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Shows progress on standard error: on a terminal one line that changes, of steps that take longer than half a second; elsewhere
 * nothing but {@link #line}. Thread-safe.
 */
public final class Progress {

    private static final int STANDARD_ERROR = 2;
    private static final int BAR = 12;
    private static final long EVERY_NANOS = 100_000_000;
    private static final long SILENT_NANOS = 500_000_000;
    private static final int MOST_SECONDS = 100 * 3600;
    private static final boolean TERMINAL = isTerminal(System.console()) || isTerminal(Path.of("/proc/self/fd/2"));

    private final PrintStream to;
    private final boolean terminal;
    private final LongSupplier nanoTime;
    private final IntSupplier columns;

    private long beganNanos;
    private long lastDone = Long.MAX_VALUE;
    private long shownNanos;
    private int shownLength;

    /** Creates an instance that shows nothing if standard error is not a terminal. */
    public Progress() {
        this(System.err, TERMINAL, System::nanoTime, Progress::columns);
    }

    /** Same, with the place, what it is, the clock, and the width, which may change. */
    Progress(PrintStream to, boolean terminal, LongSupplier nanoTime, IntSupplier columns) {
        this.columns = columns;
        this.to = to;
        this.terminal = terminal;
        this.nanoTime = nanoTime;
    }

    private static int columns() {
        int found = TerminalWidth.of(STANDARD_ERROR);
        return found > 0 ? found : Penstock.columns(System.getenv("COLUMNS"));
    }

    /** Returns whether steps are shown. */
    boolean isShown() {
        return terminal;
    }

    /**
     * Shows a step: its share, its rate and the time left, at most ten times a second. A step begins
     * where {@code done} is less than half of what it was.
     *
     * @param what the step, and the path of its bytes if it is known
     * @param done bytes so far
     * @param total all bytes
     */
    public synchronized void step(String what, long done, long total) {
        if (isDue(done)) {
            long nanos = nanoTime.getAsLong() - beganNanos;
            String bytes =
                    String.format(Locale.ROOT, "%.2f of %.2f GB, %s, ", done / 1e9, total / 1e9, rate(done, nanos));
            show(share(done, total) + bytes + left(done, total, nanos) + what);
        }
    }

    /** Shows a step that is measured by something else than bytes: its share and the time left. */
    synchronized void share(String what, long done, long total) {
        if (isDue(done)) {
            show(share(done, total) + left(done, total, nanoTime.getAsLong() - beganNanos) + what);
        }
    }

    private boolean isDue(long done) {
        if (!terminal) {
            return false;
        }
        long now = nanoTime.getAsLong();
        if (done < lastDone / 2) { // slightly less is a late report of another thread
            beganNanos = now;
            shownNanos = now;
            lastDone = done;
        }
        lastDone = Math.max(lastDone, done);
        boolean due = now - beganNanos >= SILENT_NANOS && now - shownNanos >= EVERY_NANOS;
        shownNanos = due ? now : shownNanos;
        return due;
    }

    private static String share(long done, long total) {
        double share = total == 0 ? 1 : Math.min(1, (double) done / total);
        int full = (int) (share * BAR);
        return String.format(Locale.ROOT, "[%s] %3.0f %%  ", "#".repeat(full) + ".".repeat(BAR - full), 100 * share);
    }

    private static String left(long done, long total, long nanos) {
        double seconds = nanos / 1e9 * (total - done) / done;
        return done <= 0 || done > total || seconds > MOST_SECONDS
                ? ""
                : String.format(Locale.ROOT, "%d:%02d left, ", (int) seconds / 60, (int) seconds % 60);
    }

    /** Shows a permanent line. */
    public synchronized void line(String text) {
        clear();
        to.println(text);
    }

    /** Clears the changing line, before other output or an exception. */
    public synchronized void clear() {
        if (shownLength > 0) {
            to.print("\r" + " ".repeat(shownLength) + "\r");
            to.flush();
            shownLength = 0;
        }
    }

    /** Returns a rate as text. */
    public static String rate(long bytes, long nanos) {
        double rate = (double) bytes / Math.max(nanos, 1);
        return String.format(Locale.ROOT, rate < 0.1 ? "%.5f GB/s" : "%.2f GB/s", rate);
    }

    private void show(String text) {
        int most = Math.max(0, columns.getAsInt() - 1); // a line that wraps cannot be cleared
        String fits = text.substring(0, Math.min(text.length(), most));
        to.print("\r" + fits + " ".repeat(Math.max(0, Math.min(shownLength, most) - fits.length())));
        to.flush();
        shownLength = fits.length();
    }

    /** From JDK 22 on a console may exist without a terminal, and has a method to query that. */
    private static boolean isTerminal(@Nullable Console console) {
        if (console == null) {
            return false;
        }
        try {
            return (Boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (IllegalAccessException | InvocationTargetException e) {
            return false;
        }
    }

    /** A console is one only if standard input and output are; what is shown here goes to standard error. */
    static boolean isTerminal(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().matches("/dev/(pts/|tty|console).*");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
