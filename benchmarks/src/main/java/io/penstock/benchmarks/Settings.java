// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What the command line says.
 *
 * @param rows part of the names of the rows to measure
 * @param pairs how many rounds
 * @param seconds how long each run takes
 * @param directory where test files are made; they are left there for the next time
 * @param force whether to measure on a busy machine
 */
record Settings(@Nullable Path json, String rows, int pairs, double seconds, Path directory, boolean force) {

    static final String USAGE =
            "benchmarks/run host [--json FILE] [--rows TEXT] [--pairs N] [--seconds S] [--dir DIR] " + "[--force]";

    static Settings parse(String[] arguments) {
        if (arguments.length == 0 || !arguments[0].equals("host")) {
            throw new IllegalArgumentException("which benchmarks? There are those of host");
        }
        Settings settings = new Settings(
                null, "", 5, 1, Path.of(System.getProperty("java.io.tmpdir"), "penstock-benchmarks"), false);
        for (int i = 1; i < arguments.length; i++) {
            String name = arguments[i];
            if (name.equals("--force")) {
                settings = new Settings(
                        settings.json, settings.rows, settings.pairs, settings.seconds, settings.directory, true);
            } else if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(name + " lacks its value, or is none of ours");
            } else {
                settings = settings.with(name, arguments[++i]);
            }
        }
        return settings;
    }

    private Settings with(String name, String value) {
        return switch (name) {
            case "--json" -> new Settings(Path.of(value), rows, pairs, seconds, directory, force);
            case "--rows" -> new Settings(json, value, pairs, seconds, directory, force);
            case "--pairs" -> new Settings(json, rows, Integer.parseInt(value), seconds, directory, force);
            case "--seconds" -> new Settings(json, rows, pairs, Double.parseDouble(value), directory, force);
            case "--dir" -> new Settings(json, rows, pairs, seconds, Path.of(value), force);
            default -> throw new IllegalArgumentException("there is no " + name);
        };
    }

    long nanos() {
        return (long) (seconds * 1e9);
    }
}
