// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

/** A range of memory that rings may register, so that the kernel finds its pages once and not for every operation. */
interface Registrable {

    /** Tells it from every other one there is now; small. */
    int index();

    long address();

    long bytes();

    /** Returns whether it was given back, after {@link Mapping#retiredCount} had changed. */
    boolean isRetired();
}
