// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

/** The three kinds of calls that move bytes. */
public enum FileMode {
    /** Blocking calls, on Penstock's threads. */
    SYNC,
    /** Many entries in one call, polled until they have completed. */
    BATCH,
    /** In the order of a stream. */
    STREAM
}
