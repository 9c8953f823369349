// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.tck.TckSubject;

/** Faults of disks over io_uring. */
class UringDiskFaultsTest implements DiskFaults {

    @Override
    public TckSubject subject() {
        return FaultSubject.uring();
    }
}
