// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** How a backend knows which path a transfer took. */
public enum Evidence {
    /** The path was observed for this transfer. */
    OBSERVED,
    /** The path was concluded from configuration; the vendor does not tell per transfer. */
    INFERRED
}
