// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * The result of a transfer. Owns no native resources (rule 203).
 *
 * <p>The times are values of {@link System#nanoTime()}, with the resolution of one turn of the I/O queue that executed
 * the transfer.
 */
public interface Completion {

    /** Returns the transfer; its files and buffers, closed or not, stay reachable through it. */
    Transfer transfer();

    /** Returns the bytes moved; less than the transfer's length only where a file ended first (rule 103). */
    long bytes();

    /** Returns the bytes moved for one pair. */
    long bytes(int pair);

    /** Returns the path that the bytes took. */
    TransferPath path();

    /** Returns how the path was determined. */
    Evidence evidence();

    /** Returns why no more direct path was taken, or which values are computed rather than observed; may be empty. */
    String reason();

    /** Returns the time of the subscription. */
    long subscribedNanos();

    /** Returns the time at which its first native command was submitted. */
    long startedNanos();

    /** Returns the time at which its last native command had completed. */
    long endedNanos();
}
