// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.FileOption;
import io.penstock.TransferPath;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules through mapped staging buffers. */
class StagedTckTest {

    /** From and to the page cache. */
    @Nested
    @Tag("variant")
    class Cached implements BackendRules {
        @Override
        public TckSubject subject() {
            return GlSubject.of(GlPath.STAGED, TransferPath.STAGED);
        }
    }

    /** Past the page cache, in whole blocks. */
    @Nested
    @Tag("variant")
    class Direct implements BackendRules {
        @Override
        public TckSubject subject() {
            return GlSubject.of(GlPath.STAGED, TransferPath.STAGED, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }
}
