// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.FileOption;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules by cuFile's calls that block, in its POSIX mode. */
class SyncTckTest {

    @BeforeAll
    static void fresh() {
        Fakes.require();
        Fakes.reset();
    }

    @AfterAll
    static void nothingIsLeft() {
        CuFileLeft.assertNothing();
    }

    /** From and to the page cache. */
    @Nested
    @Tag("variant")
    class Cached implements BackendRules {
        @Override
        public TckSubject subject() {
            return CuFileFake.of(CufilePath.SYNC, TransferPath.COMPAT);
        }
    }

    /** Past the page cache. */
    @Nested
    @Tag("variant")
    class Uncached implements BackendRules {
        @Override
        public TckSubject subject() {
            return CuFileFake.of(CufilePath.SYNC, TransferPath.COMPAT, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }
}
