// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** How a file is opened. The default is READ. */
public enum FileOption {
    /** Opens for reading. */
    READ,
    /** Opens for writing. */
    WRITE,
    /** Creates the file if it does not exist; requires {@link #WRITE}. */
    CREATE,
    /** Creates the file; opening fails if it exists; requires {@link #WRITE}. */
    CREATE_NEW,
    /** Truncates the file to length 0; requires {@link #WRITE}. */
    TRUNCATE,
    /**
     * Transfers bypass the page cache ({@code O_DIRECT}); opening fails if the file system does not support it.
     * Unaligned edges are handled (rule 206).
     */
    DIRECT,
    /**
     * The caller promises that the file does not change while it is open. Allows the MAPPED path (rule 207), on which a
     * change is an error.
     */
    IMMUTABLE,
    /**
     * The caller promises that no other process writes the file while it is open, which makes writes with unaligned
     * edges on block-granular devices safe across processes (rule 206).
     */
    EXCLUSIVE
}
