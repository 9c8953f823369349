// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

/** Ten thousand cancels each over io_uring. */
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
