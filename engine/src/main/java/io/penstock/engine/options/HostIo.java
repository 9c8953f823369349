// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.options;

/** How host files are read and written. */
public enum HostIo {
    /** io_uring if available, else threads; the reason of every completion names the choice and why. */
    AUTO,
    /** io_uring; opening fails if it is not available. */
    URING,
    /** Threads that make blocking calls on file channels. */
    POOL
}
