// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

/** The paths between files and the GPU that {@link HipOptions#PATH} selects. */
public enum HipPath {
    /** The best available path for each transfer. */
    AUTO,
    /** hipFile, only where it moves data between disk and GPU without touching host memory. */
    DIRECT,
    /** hipFile's synchronous calls, on a thread pool. */
    SYNC,
    /** hipFile's batch calls. */
    BATCH,
    /** hipFile's stream calls, in the order of a HIP stream. */
    STREAM,
    /** Through Penstock's pinned staging buffers. */
    STAGED
}
