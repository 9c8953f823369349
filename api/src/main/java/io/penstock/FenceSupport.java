// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** When {@link Backend#enqueue} can hand out a fence that device work may wait on. */
public enum FenceSupport {
    /**
     * As soon as the last command of the transfer is in the device's order: the last copy out of a staging slot, or, where
     * the device's own queue carries the whole transfer, its submission.
     */
    AFTER_STAGING,
    /** At once, but it can be waited on by the host only. */
    HOST_ONLY
}
