// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.List;
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
        static final Sizes OPENCL = new Sizes(1L << 30, 1L << 30, 100_000);
        static final Sizes GL = new Sizes(512L << 20, 512L << 20, 100_000);

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

    private static final List<String> BACKENDS = List.of("host", "cufile", "opencl", "gl");

    static final String USAGE =
            "benchmarks/run host|cufile|opencl|gl [--json FILE] [--rows TEXT] [--pairs N] [--seconds S] "
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
        Path directory = Path.of(System.getProperty("java.io.tmpdir"), "penstock-benchmarks");
        Settings settings = new Settings(arguments[0], null, "", 5, 1, directory, false, sizes(arguments[0]));
        for (int i = 1; i < arguments.length; i++) {
            String name = arguments[i];
            if (name.equals("--force")) {
                settings = settings.forced();
            } else if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(name + " has no value, or is not an option");
            } else {
                settings = settings.with(name, arguments[++i]);
            }
        }
        return settings;
    }

    /** A processor's OpenCL and OpenGL are the usual ones, and their memory the machine's. */
    private static Sizes sizes(String backend) {
        return switch (backend) {
            case "opencl" -> Sizes.OPENCL;
            case "gl" -> Sizes.GL;
            default -> Sizes.DEFAULT;
        };
    }

    private Settings forced() {
        return new Settings(backend, json, rows, pairs, seconds, directory, true, sizes);
    }

    private Settings with(String name, String value) {
        try {
            return parsed(name, value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a number, was " + value, e);
        }
    }

    private Settings parsed(String name, String value) {
        return switch (name) {
            case "--json" -> new Settings(backend, Path.of(value), rows, pairs, seconds, directory, force, sizes);
            case "--rows" -> new Settings(backend, json, value, pairs, seconds, directory, force, sizes);
            case "--pairs" ->
                new Settings(backend, json, rows, Integer.parseInt(value), seconds, directory, force, sizes);
            case "--seconds" -> new Settings(backend, json, rows, pairs, seconds(value), directory, force, sizes);
            case "--dir" -> new Settings(backend, json, rows, pairs, seconds, Path.of(value), force, sizes);
            case "--mib" -> with(new Sizes(mib(value), Math.min(mib(value), sizes.diskBytes), sizes.blocks));
            case "--disk-mib" -> with(new Sizes(sizes.hotBytes, mib(value), sizes.blocks));
            case "--blocks" -> with(new Sizes(sizes.hotBytes, sizes.diskBytes, Integer.parseInt(value)));
            default -> throw new IllegalArgumentException("there is no " + name);
        };
    }

    private Settings with(Sizes changed) {
        return new Settings(backend, json, rows, pairs, seconds, directory, force, changed);
    }

    private static double seconds(String text) {
        double seconds = Double.parseDouble(text);
        if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS)) { // nor NaN
            throw new IllegalArgumentException(
                    "--seconds must be from " + LEAST_SECONDS + " to " + MOST_SECONDS + ", was " + seconds);
        }
        return seconds;
    }

    private static long mib(String text) {
        long mib = Long.parseLong(text);
        return mib > Long.MAX_VALUE >> 20 ? Long.MAX_VALUE : mib << 20; // which is refused
    }

    long nanos() {
        return (long) (seconds * 1e9);
    }
}
