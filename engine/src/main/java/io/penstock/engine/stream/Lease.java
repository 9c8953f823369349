// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

/** A right to access memory, limited in time. */
public interface Lease {

    /**
     * Does nothing while the lease lasts.
     *
     * @throws io.penstock.ClosedException once it is over
     */
    void checkOpen();
}
