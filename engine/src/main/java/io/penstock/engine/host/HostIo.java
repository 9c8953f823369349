// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

/** How host files are read and written. */
public enum HostIo {
    /** io_uring where it can be used, else threads; which one, and why, is in every completion's reason. */
    AUTO,
    /** io_uring; an error where it cannot be used. */
    URING,
    /** Threads that make blocking calls on file channels. */
    POOL
}
