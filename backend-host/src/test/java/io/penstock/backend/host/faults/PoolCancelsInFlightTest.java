// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import org.junit.jupiter.api.Tag;

/** Fewer over a pool, whose threads have only so many calls in flight at once. */
@Tag("slow")
class PoolCancelsInFlightTest implements CancelsInFlight {

    @Override
    public PoisonedSubject subject() {
        return PoisonedSubject.over(FaultSubject.pool());
    }

    @Override
    public int cancels() {
        return 2000;
    }
}
