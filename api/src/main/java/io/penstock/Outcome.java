// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** How much of a failed transfer took place. */
public enum Outcome {
    /** No byte was moved, and none will be. */
    NOT_STARTED,
    /**
     * Some bytes were moved; {@link PenstockException#bytes()} returns how many, counted from the start of each pair.
     */
    PARTIAL,
    /** The device may have moved any of the bytes, or still be moving them. */
    UNKNOWN
}
