// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

/** The paths between files and the GPU that {@link CufileOptions#PATH} selects. */
public enum CufilePath {
    /** The best available path for each transfer. */
    AUTO,
    /** cuFile, only where it moves data between disk and GPU without touching host memory. */
    DIRECT,
    /** cuFile's synchronous calls, on a thread pool. */
    SYNC,
    /** cuFile's batch calls. */
    BATCH,
    /** cuFile's stream calls, in the order of a CUDA stream. */
    STREAM,
    /** Through Penstock's pinned staging buffers. */
    STAGED,
    /** The GPU reads the page cache through a registered mapping; writes are staged. */
    MAPPED
}
