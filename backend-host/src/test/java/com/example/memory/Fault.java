// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

/** What is wrong with the backend. */
enum Fault {
    NONE,
    COPY_OUT_DOES_NOTHING,
    COPY_IN_ALWAYS_FAILS,
    FREE_NEVER_COUNTS;

    static Fault chosen() {
        return valueOf(System.getProperty(MemoryRules.FAULT, NONE.name()));
    }
}
