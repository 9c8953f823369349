// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * One cell of the matrix of faults: what happens to an operation on a file of a file system, by one way, and what must
 * come of it. {@code faults.txt} has the rows, of which each expands to the cells of its lists.
 *
 * @param place the file system
 * @param right what must come of it: {@code whole}, {@code cut}, or the kind of the error and its symbol
 */
record FaultCell(String place, String operation, String fault, String way, String right) {

    static final Path DATA = Path.of(System.getProperty("basedir", ""), "src/test/resources/faults.txt");

    private static final int COLUMNS = 5;

    /** Returns the cells of these ways; with {@code -Dfaults.only=WORDS}, the cells whose text has the words. */
    static Stream<FaultCell> of(String... ways) {
        String only = System.getProperty("faults.only", "");
        return all().stream()
                .filter(cell -> List.of(ways).contains(cell.way))
                .filter(cell -> cell.toString().contains(only));
    }

    /** Returns all cells. */
    static List<FaultCell> all() {
        List<FaultCell> all = new ArrayList<>();
        for (String[] row : rows()) {
            for (String place : row[0].split(",")) {
                for (String operation : row[1].split(",")) {
                    for (String fault : row[2].split(",")) {
                        for (String way : row[3].split(",")) {
                            all.add(new FaultCell(place, operation, fault, way, row[4].replace("ERROR", fault)));
                        }
                    }
                }
            }
        }
        return all;
    }

    /** Returns the rows, in their columns. */
    static List<String[]> rows() {
        try {
            return Files.readAllLines(DATA).stream()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(line -> line.strip().split("\\s+", COLUMNS))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns whether the operation waits until the test ends the fault. */
    boolean isHeld() {
        return fault.equals("slow") || fault.equals("hung");
    }

    @Override
    public String toString() {
        return operation + " on " + place + " by " + way + ", " + fault + ": " + right;
    }
}
