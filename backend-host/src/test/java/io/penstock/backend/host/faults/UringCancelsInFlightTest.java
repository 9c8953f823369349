// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import org.junit.jupiter.api.Tag;

/** Ten thousand cancels each over io_uring. */
@Tag("slow")
class UringCancelsInFlightTest implements CancelsInFlight {

    @Override
    public PoisonedSubject subject() {
        return PoisonedSubject.over(FaultSubject.uring());
    }

    @Override
    public int cancels() {
        return 10_000;
    }
}
