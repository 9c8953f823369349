// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

/** Something to be measured for the report. */
interface Row {

    /** Returns the name by which {@code --rows} finds it. */
    String name();

    /** Returns whether it is measured only where {@code --rows} says so. */
    default boolean isOnlyByName() {
        return false;
    }

    /** Measures it. */
    Report run(Settings settings, boolean busy) throws Exception;
}
