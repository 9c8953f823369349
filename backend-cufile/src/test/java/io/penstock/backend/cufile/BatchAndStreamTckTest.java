// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules by cuFile's batches and streams. */
class BatchAndStreamTckTest {

    @BeforeAll
    static void fresh() {
        Fakes.require();
        Fakes.reset();
    }

    @AfterAll
    static void nothingIsLeft() {
        CuFileLeft.assertNothing();
    }

    @Nested
    @Tag("variant")
    class Batch implements BackendRules {
        @Override
        public TckSubject subject() {
            return CuFileFake.of(CufilePath.BATCH, TransferPath.COMPAT);
        }
    }

    @Nested
    @Tag("variant")
    class Stream implements BackendRules {
        @Override
        public TckSubject subject() {
            return CuFileFake.of(CufilePath.STREAM, TransferPath.COMPAT);
        }
    }
}
