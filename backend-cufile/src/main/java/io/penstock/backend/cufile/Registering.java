// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

/** When memory of the GPU is registered with cuFile. */
public enum Registering {
    /**
     * Where there is a direct path, memory that is small when it is allocated, and larger memory once it has been used
     * twice; none on a GPU whose BAR is smaller than its memory.
     */
    AUTO,
    /** All that is aligned, when it is allocated. */
    ALWAYS,
    /** None: cuFile bounces. */
    NEVER
}
