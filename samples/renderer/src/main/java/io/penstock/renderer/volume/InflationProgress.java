// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/** Receives the progress of the inflation of a compressed volume. */
@FunctionalInterface
public interface InflationProgress {

    /** Ignores the progress. */
    InflationProgress SILENT = (into, done, total) -> {};

    /**
     * Called now and then, and once at the end with {@code done == total}.
     *
     * @param into a description of the temporary file
     * @param done bytes written so far
     * @param total bytes in total
     */
    void inflated(String into, long done, long total);
}
