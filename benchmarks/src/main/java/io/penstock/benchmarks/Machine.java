// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** What else the machine has to do. */
final class Machine {

    private static final double LEAST_IDLE = 0.85;
    private static final double MOST_LOAD_PER_PROCESSOR = 0.75;
    private static final int LOOK_SECONDS = 2;
    private static final int MOST_LOOKS = 10; // work of our own that has just ended, a disk that still flushes

    private Machine() {}

    /** Returns the load average of the last minute. */
    static double load() throws IOException {
        return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
    }

    /** Returns whether the last minute was too busy to begin. */
    static boolean wasBusy() throws IOException {
        return load() > MOST_LOAD_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();
    }

    /** Returns whether the machine stays busy although we do nothing. */
    static boolean isBusy(boolean impatient) throws IOException, InterruptedException {
        for (int look = 0; look < (impatient ? 1 : MOST_LOOKS); look++) {
            if (idleShare() >= LEAST_IDLE) {
                return false;
            }
        }
        return true;
    }

    private static double idleShare() throws IOException, InterruptedException {
        long[] before = times();
        TimeUnit.SECONDS.sleep(LOOK_SECONDS);
        long[] after = times();
        return (double) (after[0] - before[0]) / (after[1] - before[1]);
    }

    /** Returns the ticks that processors were idle (waiting for disks does not count), and all ticks. */
    private static long[] times() throws IOException {
        String[] fields =
                Files.readString(Path.of("/proc/stat")).split("\n")[0].trim().split(" +");
        long all = 0;
        for (int field = 1; field <= 8; field++) {
            all += Long.parseLong(fields[field]);
        }
        return new long[] {Long.parseLong(fields[4]), all};
    }

    /** Returns what the report must say about where it was made. */
    static String describe() throws IOException {
        return String.format(
                Locale.ROOT,
                "%d processors, Linux %s, %s %s, load %.2f",
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.version"),
                System.getProperty("java.vm.name"),
                System.getProperty("java.vm.version"),
                load());
    }
}
