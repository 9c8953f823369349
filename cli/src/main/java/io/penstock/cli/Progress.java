// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.io.Console;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Shows progress on standard error: on a terminal one line that changes, elsewhere one line per finished step. */
public final class Progress {

    private static final int BAR = 24;
    private static final long EVERY_NANOS = 100_000_000;
    private static final boolean TERMINAL = isTerminal(System.console()) || isTerminal(Path.of("/proc/self/fd/2"));

    private long shownNanos = System.nanoTime() - EVERY_NANOS;
    private int shownLength;

    /** Shows a step, at most ten times a second; nothing if standard error is not a terminal. */
    public synchronized void step(String what, long done, long total) {
        long now = System.nanoTime();
        if (TERMINAL && now - shownNanos >= EVERY_NANOS) {
            shownNanos = now;
            int full = (int) (total == 0 ? BAR : (double) done / total * BAR);
            String bar = "#".repeat(full) + ".".repeat(BAR - full);
            show(String.format(Locale.ROOT, "[%s] %3.0f %%  %s", bar, total == 0 ? 100.0 : 100.0 * done / total, what));
        }
    }

    /** Shows a permanent line. */
    public synchronized void line(String text) {
        clear();
        System.err.println(text);
    }

    /** Clears the changing line, before other output or an exception. */
    public synchronized void clear() {
        if (shownLength > 0) {
            System.err.print("\r" + " ".repeat(shownLength) + "\r");
            shownLength = 0;
        }
    }

    /** Returns a rate as text. */
    public static String rate(long bytes, long nanos) {
        double rate = (double) bytes / Math.max(nanos, 1);
        return String.format(Locale.ROOT, rate < 0.1 ? "%.5f GB/s" : "%.2f GB/s", rate);
    }

    private void show(String text) {
        System.err.print("\r" + text + " ".repeat(Math.max(0, shownLength - text.length())));
        System.err.flush();
        shownLength = text.length();
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
