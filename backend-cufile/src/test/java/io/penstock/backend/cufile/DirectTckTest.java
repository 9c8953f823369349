// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The rules where cuFile goes directly, and reports it of whole blocks only. */
@Tag("variant")
class DirectTckTest implements BackendRules {

    @BeforeAll
    static void fresh() {
        Fakes.require();
        Fakes.reset();
        Fakes.cufile().set("nvfs", 1);
    }

    @AfterAll
    static void nothingIsLeft() {
        CuFileLeft.assertNothing();
        Fakes.reset();
    }

    @Override
    public TckSubject subject() {
        return CuFileFake.of(CufilePath.DIRECT, TransferPath.DIRECT);
    }
}
