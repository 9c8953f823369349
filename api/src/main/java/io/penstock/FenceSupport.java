// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** When {@link Backend#enqueue} can emit a fence that device work may wait on. */
public enum FenceSupport {
    /**
     * As soon as the last command of the transfer is in the device's order: the last copy out of a staging buffer, or,
     * where the device's own queue executes the whole transfer, its submission.
     */
    AFTER_STAGING,
    /** At once, but only the host can wait on it. */
    HOST_ONLY
}
