// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.tck.EdgeRules;
import io.penstock.tck.ReadRules;
import io.penstock.tck.TckSubject;
import io.penstock.tck.WriteRules;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Reads and writes where a staging buffer is mapped elsewhere each time, as Direct3D may. */
@Tag("fake")
@ExtendWith(Direct3dFake.class)
class MovedMapsTckTest implements ReadRules, WriteRules, EdgeRules {

    @Override
    public TckSubject subject() {
        Direct3dFake.moveMaps();
        return new Dx11Subject(Direct3dFake.options(false).with(Dx11Options.UPDATE_BYTES, 0L));
    }
}
