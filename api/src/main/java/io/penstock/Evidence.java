// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** How a backend determined which path a transfer took. */
public enum Evidence {
    /** The path was observed for this transfer. */
    OBSERVED,
    /** The path was inferred from configuration; the vendor does not report it per transfer. */
    INFERRED
}
