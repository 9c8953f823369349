// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** How a file is opened; READ by default. */
public enum FileOption {
    /** Its bytes can be read. */
    READ,
    /** Its bytes can be written. */
    WRITE,
    /** It is made if it does not exist; needs {@link #WRITE}. */
    CREATE,
    /** It is made, and opening fails if it exists; needs {@link #WRITE}. */
    CREATE_NEW,
    /** It is cut to length 0 first; needs {@link #WRITE}. */
    TRUNCATE,
    /**
     * Transfers bypass the page cache where the file system can ({@code O_DIRECT}); a file system that cannot is an
     * error at open. Edges that are not aligned are taken care of (rule 206).
     */
    DIRECT,
    /**
     * The caller promises that the file does not change while it is open. Allows the MAPPED path (rule 207), where a
     * change is an error.
     */
    IMMUTABLE,
    /**
     * The caller promises that no other process writes the file while it is open, which is what writes with
     * unaligned edges need on block-granular devices to be safe across processes (rule 206).
     */
    EXCLUSIVE
}
