// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.FileOption;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules through pinned staging buffers. */
class StagedTckTest {

    @BeforeAll
    static void fresh() {
        Fakes.require();
        Fakes.reset();
    }

    /** What no single rule looks at: all that was made on the GPU is gone, and was used as the vendor wants. */
    @AfterAll
    static void nothingIsLeftOnTheGpu() {
        assertThat(Fakes.complaint()).isEmpty();
        for (String kind : new String[] {
            "contexts", "streams", "events", "allocations", "host_allocations", "host_registrations", "host_buffers"
        }) {
            // With the backend or right behind it: threads that used the context let it go as they end.
            assertThat(Fakes.cuda().awaitLive(kind, 0)).as(kind).isZero();
        }
    }

    /** From and to the page cache. */
    @Nested
    class Cached implements BackendRules {
        @Override
        public TckSubject subject() {
            return CufileSubject.of(CufilePath.STAGED, TransferPath.STAGED);
        }
    }

    /** Past the page cache, in whole blocks. */
    @Nested
    @Tag("variant")
    class Direct implements BackendRules {
        @Override
        public TckSubject subject() {
            return CufileSubject.of(CufilePath.STAGED, TransferPath.STAGED, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }
}
