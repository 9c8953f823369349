// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.driver;

/** The three kinds of calls by which cuFile moves bytes. */
public enum CuFileMode {
    /** Calls that block, on threads of ours. */
    SYNC,
    /** Many in one call, asked about until they have ended. */
    BATCH,
    /** In the order of a CUDA stream. */
    STREAM
}
