// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.driver;

/** The three kinds of cuFile calls that move bytes. */
public enum CuFileMode {
    /** Blocking calls, on Penstock's threads. */
    SYNC,
    /** Many entries in one call, polled until they have completed. */
    BATCH,
    /** In the order of a CUDA stream. */
    STREAM
}
