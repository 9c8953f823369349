// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.Nested;

/** The rules through slots. */
class StagedTckTest {

    private static final Options STAGED = Options.none().with(OpenClOptions.PATH, OpenClPath.STAGED);

    /** From and to the page cache. */
    @Nested
    class Cached implements BackendRules {
        @Override
        public TckSubject subject() {
            return OpenClSubject.of(STAGED, TransferPath.STAGED);
        }
    }

    /** Past the page cache, in whole blocks. */
    @Nested
    class Direct implements BackendRules {
        @Override
        public TckSubject subject() {
            return OpenClSubject.of(STAGED, TransferPath.STAGED, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }
}
