// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.List;

/** Something to be measured for the report. */
interface Row {

    /** Returns the name by which {@code --rows} finds it. */
    String name();

    /** Measures it. */
    List<Result> run(Settings settings, boolean busy) throws Exception;
}
