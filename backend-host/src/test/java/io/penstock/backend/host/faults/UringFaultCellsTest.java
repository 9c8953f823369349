// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.tck.TckSubject;
import java.util.stream.Stream;

/** The matrix of faults over io_uring: files of the page cache, past it, and streams. */
class UringFaultCellsTest extends FaultCells {

    static Stream<FaultCell> cells() {
        return FaultCell.of("ring", "direct", "stream");
    }

    @Override
    public TckSubject subject() {
        return FaultSubject.uring();
    }
}
