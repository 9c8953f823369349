// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** One implementation of a row's work; runs alternately with the others. */
interface Contender extends AutoCloseable {

    /**
     * Works for about this time.
     *
     * @throws Exception if an operation failed or moved too few bytes
     */
    Measure run(long nanos) throws Exception;

    /**
     * Works like {@link #run}, with a look at the clock at the start and at the end of each operation.
     *
     * @return how long operations took, or null if this contender cannot tell
     */
    default @Nullable Latency latency(long nanos) throws Exception {
        return null;
    }

    /**
     * Checks the bytes at their destination, after a run.
     *
     * @throws IOException if they are not the requested ones
     */
    default void verify() throws IOException {}

    /** Returns a remark for the readers of its figures, or an empty string. */
    default String remark() {
        return "";
    }

    /** Returns what it has done, for the log, or an empty string. */
    default String log() {
        return "";
    }

    @Override
    default void close() throws Exception {}
}
