// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;

/** One way to do the work of a row; runs in turns with the others. */
interface Contender extends AutoCloseable {

    /** Returns what reports call it. */
    String name();

    /**
     * Works for about so long.
     *
     * @throws Exception if an operation failed or moved too few bytes
     */
    Measure run(long nanos) throws Exception;

    /**
     * Checks the bytes at their destination, after a run.
     *
     * @throws IOException if they are not those that were asked for
     */
    default void verify() throws IOException {}

    /** Returns what a reader of its figures must know, or an empty string. */
    default String remark() {
        return "";
    }

    @Override
    default void close() throws Exception {}
}
