// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.tck.TckSubject;

/** Faults of disks over threads that make blocking calls. */
class PoolDiskFaultsTest implements DiskFaults {

    @Override
    public TckSubject subject() {
        return FaultSubject.pool();
    }
}
