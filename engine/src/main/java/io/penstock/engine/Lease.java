// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

/** A right to look at memory, which ends. */
interface Lease {

    /**
     * Does nothing while the lease lasts.
     *
     * @throws io.penstock.ClosedException once it is over
     */
    void checkOpen();
}
