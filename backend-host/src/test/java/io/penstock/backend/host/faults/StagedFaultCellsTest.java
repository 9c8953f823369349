// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.backend.host.staged.StagedSubject;
import io.penstock.tck.TckSubject;
import java.util.stream.Stream;

/** The matrix of faults over staging buffers. */
class StagedFaultCellsTest extends FaultCells {

    static Stream<FaultCell> cells() {
        return FaultCell.of("staged");
    }

    @Override
    public TckSubject subject() {
        return new StagedSubject(FaultSubject.pool().folder());
    }
}
