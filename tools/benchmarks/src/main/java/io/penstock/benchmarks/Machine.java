// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** The other load of the machine. */
final class Machine {

    private static final double LEAST_IDLE = 0.85;
    private static final double MOST_LOAD_PER_PROCESSOR = 0.75;
    private static final int SAMPLE_SECONDS = 2;
    private static final int MOST_LOADED_SAMPLES = 90;
    private static final int MOST_SAMPLES = 10; // our own work that has just ended, a disk that still flushes

    private static final Path DISKS = Path.of("/proc/diskstats");

    private Machine() {}

    /** Returns the load average of the last minute. */
    static double load() throws IOException {
        return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
    }

    /** Returns true if the last minute was too busy to start, and the next ones are too: a build leaves a load. */
    static boolean staysLoaded(boolean impatient) throws IOException, InterruptedException {
        double most = MOST_LOAD_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();
        for (int look = 0; load() > most && !impatient; look++) {
            if (look == MOST_LOADED_SAMPLES) {
                return true;
            }
            if (look == 0) {
                System.err.println("benchmarks: the load of the last minute is " + load() + ": waiting for it to fall");
            }
            TimeUnit.SECONDS.sleep(SAMPLE_SECONDS);
        }
        return false;
    }

    /** Returns true if the machine stays busy although the benchmarks are idle. */
    static boolean isBusy(boolean impatient) throws IOException, InterruptedException {
        for (int look = 0; look < (impatient ? 1 : MOST_SAMPLES); look++) {
            String processorsBefore = processors();
            long disksBefore = diskMillis(Files.readAllLines(DISKS));
            TimeUnit.SECONDS.sleep(SAMPLE_SECONDS);
            double disks = (diskMillis(Files.readAllLines(DISKS)) - disksBefore) / (1000.0 * SAMPLE_SECONDS);
            if (idleShare(processorsBefore, processors()) >= LEAST_IDLE && disks <= 1 - LEAST_IDLE) {
                return false;
            }
        }
        return true;
    }

    private static String processors() throws IOException {
        return Files.readAllLines(Path.of("/proc/stat")).get(0);
    }

    /**
     * Returns the share of the time that processors were idle. Waiting for I/O counts as idle: the kernel counts as
     * such every thread that sleeps in io_uring with a command in flight, including library threads that wait for a
     * wakeup.
     */
    static double idleShare(String before, String after) {
        long[] from = ticks(before);
        long[] to = ticks(after);
        return (double) (to[0] - from[0]) / (to[1] - from[1]);
    }

    /** Returns the ticks that processors were idle, and all ticks, of a line of /proc/stat. */
    private static long[] ticks(String line) {
        String[] fields = line.trim().split(" +");
        long all = 0;
        for (int field = 1; field <= 8; field++) {
            all += Long.parseLong(fields[field]);
        }
        return new long[] {Long.parseLong(fields[4]) + Long.parseLong(fields[5]), all};
    }

    /** Returns the total time that disks were busy, from /proc/diskstats. */
    static long diskMillis(List<String> lines) {
        return lines.stream()
                .mapToLong(line -> Long.parseLong(line.trim().split(" +")[12]))
                .sum();
    }

    /** Returns the description of the machine for the report. */
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
