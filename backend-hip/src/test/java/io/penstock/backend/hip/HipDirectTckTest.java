// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import io.penstock.TransferPath;
import io.penstock.backend.hip.fakes.HipDouble;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The rules where hipFile goes directly, and may not fall back. */
@Tag("variant")
class HipDirectTckTest implements BackendRules {

    @BeforeAll
    static void fresh() {
        HipDouble.require();
        HipDouble.reset();
        HipDouble.hipFile(5, false);
        HipDouble.files().set("nvfs", 1);
    }

    @AfterAll
    static void nothingIsLeft() {
        HipLeft.assertNothing();
        HipDouble.reset();
    }

    @Override
    public TckSubject subject() {
        return HipSubject.of(HipPath.DIRECT, TransferPath.DIRECT);
    }
}
