// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/** Hears how far the inflation of a compressed volume has come. */
@FunctionalInterface
public interface InflationProgress {

    /** Listens to nothing. */
    InflationProgress SILENT = (into, done, total) -> {};

    /**
     * Called now and then, and once at the end with {@code done == total}.
     *
     * @param into the temporary file, in words
     * @param done bytes written so far
     * @param total bytes that there will be
     */
    void inflated(String into, long done, long total);
}
