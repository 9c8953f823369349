// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.Tag;

/** Faults of disks over threads that make blocking calls. */
@Tag("slow")
class PoolDiskFaultsTest implements DiskFaults {

    @Override
    public TckSubject subject() {
        return FaultSubject.pool();
    }
}
