// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** When {@link Backend#enqueue} can hand out a fence that device work may wait on. */
public enum FenceSupport {
    /**
     * At once: all of the transfer, file I/O included, stands in the device's own order. None of this project's
     * backends reports it, since each may carry a transfer through slots.
     */
    EARLY,
    /** Once the last copy out of a staging slot stands in the device's order. */
    AFTER_STAGING,
    /** At once, but it can be waited on by the host only. */
    HOST_ONLY
}
