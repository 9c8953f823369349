// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import io.penstock.FileOption;
import io.penstock.TransferPath;
import io.penstock.backend.hip.fakes.HipDouble;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules on the double of HIP and hipFile, by each path. */
class HipTckTest {

    @BeforeAll
    static void fresh() {
        HipDouble.require();
        HipDouble.reset();
        HipDouble.runtime(HipDouble.HIP_7_2, false); // nothing goes directly
    }

    @AfterAll
    static void nothingIsLeft() {
        HipLeft.assertNothing();
        HipDouble.reset();
    }

    /** Through staging buffers, from and to the page cache. */
    @Nested
    class Staged implements BackendRules {
        @Override
        public TckSubject subject() {
            return HipSubject.of(HipPath.STAGED, TransferPath.STAGED);
        }
    }

    /** Through staging buffers, past the page cache, in whole blocks. */
    @Nested
    @Tag("variant")
    class Uncached implements BackendRules {
        @Override
        public TckSubject subject() {
            return HipSubject.of(HipPath.STAGED, TransferPath.STAGED, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }

    /** By hipFile's blocking calls. */
    @Nested
    @Tag("variant")
    class Sync implements BackendRules {
        @Override
        public TckSubject subject() {
            return HipSubject.of(HipPath.SYNC, TransferPath.COMPAT);
        }
    }

    /** By its batches. */
    @Nested
    @Tag("variant")
    class Batch implements BackendRules {
        @Override
        public TckSubject subject() {
            return HipSubject.of(HipPath.BATCH, TransferPath.COMPAT);
        }
    }

    /** By its calls in the order of streams. */
    @Nested
    @Tag("variant")
    class Stream implements BackendRules {
        @Override
        public TckSubject subject() {
            return HipSubject.of(HipPath.STREAM, TransferPath.COMPAT);
        }
    }
}
