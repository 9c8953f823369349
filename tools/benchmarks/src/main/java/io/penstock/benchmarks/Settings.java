// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the command line.
 *
 * @param backend whose rows are measured
 * @param rows part of the names of the rows to measure
 * @param pairs the number of rounds
 * @param seconds the duration of each run; in most rows of a device each run moves a file instead
 * @param directory where test files are created; they are kept for the next time
 * @param force true to measure on a busy machine
 * @param sizes of the files of the rows of a device
 */
record Settings(
        String backend,
        @Nullable Path json,
        String rows,
        int pairs,
        double seconds,
        Path directory,
        boolean force,
        Sizes sizes) {

    /**
     * The sizes of the rows of a device.
     *
     * @param hotBytes of the file in the page cache, a multiple of 16 MiB
     * @param diskBytes of the transfers to and from the disk, at most {@code hotBytes}
     * @param blocks the blocks of one gather
     */
    record Sizes(long hotBytes, long diskBytes, int blocks) {

        static final Sizes DEFAULT = new Sizes(8L << 30, 2L << 30, 100_000);

        /** A processor's OpenCL and OpenGL are the usual ones, and their memory the machine's. */
        static Sizes of(String backend) {
            return switch (backend) {
                case "opencl" -> new Sizes(1L << 30, 1L << 30, 100_000);
                case "gl" -> new Sizes(512L << 20, 512L << 20, 100_000);
                default -> DEFAULT;
            };
        }

        Sizes {
            if (hotBytes % (16 << 20) != 0 || diskBytes % (16 << 20) != 0 || diskBytes <= 0 || diskBytes > hotBytes) {
                throw new IllegalArgumentException("sizes are multiples of 16 MiB, the disk's no more than the other");
            }
            if (blocks < 1) {
                throw new IllegalArgumentException("--blocks must be at least 1, was " + blocks);
            }
        }
    }

    private static final double LEAST_SECONDS = 0.001; // the unit of the peers in other processes
    private static final double MOST_SECONDS = 86_400;

    private static final Set<String> OPTIONS =
            Set.of("--json", "--rows", "--pairs", "--seconds", "--dir", "--mib", "--disk-mib", "--blocks");
    private static final List<String> BACKENDS = List.of("host", "cufile", "opencl", "gl");

    static final String USAGE =
            "tools/benchmarks/run host|cufile|opencl|gl [--json FILE] [--rows TEXT] [--pairs N] [--seconds S] "
                    + "[--dir DIR] [--force] [--mib N] [--disk-mib N] [--blocks N]";

    Settings {
        if (pairs < 1) {
            throw new IllegalArgumentException("--pairs must be at least 1, was " + pairs);
        }
    }

    static Settings parse(String[] arguments) {
        if (arguments.length == 0 || !BACKENDS.contains(arguments[0])) {
            throw new IllegalArgumentException("name the benchmarks to run: " + String.join(", ", BACKENDS));
        }
        Map<String, String> given = new HashMap<>();
        for (int i = 1; i < arguments.length; i++) {
            String name = arguments[i];
            if (name.equals("--force")) {
                given.put(name, "");
            } else if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(name + " has no value, or is not an option");
            } else if (!OPTIONS.contains(name)) {
                throw new IllegalArgumentException("there is no " + name);
            } else {
                given.put(name, arguments[++i]);
            }
        }
        return new Settings(
                arguments[0],
                given.containsKey("--json") ? Path.of(given.get("--json")) : null,
                given.getOrDefault("--rows", ""),
                (int) number(given, "--pairs", 5, Integer::parseInt),
                seconds(number(given, "--seconds", 1, Double::parseDouble)),
                Path.of(given.getOrDefault("--dir", System.getProperty("java.io.tmpdir") + "/penstock-benchmarks")),
                given.containsKey("--force"),
                sizes(given, Sizes.of(arguments[0])));
    }

    private static Sizes sizes(Map<String, String> given, Sizes usual) {
        long hot = mib((long) number(given, "--mib", usual.hotBytes >> 20, Long::parseLong));
        long disk = Math.min(hot, usual.diskBytes);
        return new Sizes(hot, mib((long) number(given, "--disk-mib", disk >> 20, Long::parseLong)), (int)
                number(given, "--blocks", usual.blocks, Integer::parseInt));
    }

    private static double number(
            Map<String, String> given, String name, double usual, ToDoubleFunction<String> parsed) {
        String value = given.get(name);
        try {
            return value == null ? usual : parsed.applyAsDouble(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a number, was " + value, e);
        }
    }

    private static double seconds(double seconds) {
        if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS)) { // nor NaN
            throw new IllegalArgumentException(
                    "--seconds must be from " + LEAST_SECONDS + " to " + MOST_SECONDS + ", was " + seconds);
        }
        return seconds;
    }

    private static long mib(long mib) {
        return mib > Long.MAX_VALUE >> 20 ? Long.MAX_VALUE : mib << 20; // which is refused
    }

    long nanos() {
        return (long) (seconds * 1e9);
    }
}
