// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.tck.FenceRules;
import io.penstock.tck.ReadRules;
import io.penstock.tck.TckSubject;
import io.penstock.tck.WriteRules;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Reads, writes and fences where the device has the fences of Windows 10. */
@Tag("fake")
@ExtendWith(Direct3dFake.class)
class FencedTckTest implements ReadRules, WriteRules, FenceRules {

    @Override
    public TckSubject subject() {
        return new Dx11Subject(Direct3dFake.options(true));
    }
}
