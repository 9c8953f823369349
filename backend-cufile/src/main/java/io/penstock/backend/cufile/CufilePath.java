// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

/** The ways between files and the GPU that {@link CufileOptions#PATH} names. */
public enum CufilePath {
    /** The best that there is for each transfer. */
    AUTO,
    /** cuFile, and only where it goes from the disk to the GPU without touching host memory. */
    DIRECT,
    /** cuFile's synchronous calls, on a pool of threads. */
    SYNC,
    /** cuFile's batches. */
    BATCH,
    /** cuFile's calls in the order of a CUDA stream. */
    STREAM,
    /** Through pinned slots of ours. */
    STAGED,
    /** The GPU reads the page cache through a registered mapping; writes are staged. */
    MAPPED
}
