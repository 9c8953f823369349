// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

/** What is wrong with the backend. */
enum Fault {
    COPY_OUT_DOES_NOTHING,
    COPY_IN_ALWAYS_FAILS,
    FREE_NEVER_COUNTS;

    static final String PROPERTY = "com.example.memory.fault";

    static Fault chosen() {
        return valueOf(System.getProperty(PROPERTY));
    }
}
