// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

/** When GPU memory is registered with cuFile. */
public enum Registering {
    /**
     * Where a direct path exists: small memory at allocation, larger memory once it has been used twice. None on a GPU
     * whose BAR is smaller than its memory.
     */
    AUTO,
    /** All aligned memory, at allocation. */
    ALWAYS,
    /** Never: cuFile uses its bounce buffers. */
    NEVER
}
