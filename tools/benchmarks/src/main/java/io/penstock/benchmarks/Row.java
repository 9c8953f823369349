// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

/** Something to be measured for the report. */
interface Row {

    /** Returns the name by which {@code --rows} finds it. */
    String name();

    /** Returns true if it is measured only if {@code --rows} names it. */
    default boolean isOnlyByName() {
        return false;
    }

    /** Measures it. */
    Report run(Settings settings, boolean busy) throws Exception;
}
