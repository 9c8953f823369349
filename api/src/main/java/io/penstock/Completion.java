// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * What a transfer came to. Owns nothing native (rule 203).
 *
 * <p>The times are values of {@link System#nanoTime()}, as coarse as one turn of the lane that carried the transfer.
 */
public interface Completion {

    /** Returns the transfer that was asked for; its files and buffers stay reachable with this, whether closed or not. */
    Transfer transfer();

    /** Returns the bytes moved; less than the transfer's length only where a file ended first (rule 103). */
    long bytes();

    /** Returns the bytes moved for one pair. */
    long bytes(int pair);

    /** Returns the path that the bytes took. */
    TransferPath path();

    /** Returns how the backend knows the path. */
    Evidence evidence();

    /** Returns why not a more direct path, what was computed rather than observed, or an empty string. */
    String reason();

    /** Returns when the transfer was subscribed to. */
    long subscribedNanos();

    /** Returns when its first native command was submitted. */
    long startedNanos();

    /** Returns when its last native command had ended. */
    long endedNanos();
}
