// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

/** When GPU memory is registered with hipFile. */
public enum Registering {
    /** Where a direct path exists: small memory at allocation, larger memory once it has been used twice. */
    AUTO,
    /** All aligned memory, at allocation. */
    ALWAYS,
    /** Never: hipFile uses its bounce buffers. */
    NEVER
}
