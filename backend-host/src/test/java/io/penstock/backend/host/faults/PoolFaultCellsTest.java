// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.tck.TckSubject;
import java.util.stream.Stream;

/** The matrix of faults over threads that make blocking calls. */
class PoolFaultCellsTest extends FaultCells {

    static Stream<FaultCell> cells() {
        return FaultCell.of("pool");
    }

    @Override
    public TckSubject subject() {
        return FaultSubject.pool();
    }
}
