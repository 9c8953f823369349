// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules through staging buffers. */
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
    @Tag("variant")
    class Direct implements BackendRules {
        @Override
        public TckSubject subject() {
            return OpenClSubject.of(STAGED, TransferPath.STAGED, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }

    /**
     * Through staging buffers so small, and so few, that everything takes many of them and starts and ends amid one.
     */
    @Nested
    @Tag("variant")
    class SmallBuffers implements BackendRules {
        @Override
        public TckSubject subject() {
            Options small =
                    STAGED.with(StagingOptions.BUFFER_BYTES, 12_288L).with(StagingOptions.BUFFERS_PER_WORKER, 1);
            return OpenClSubject.of(small, TransferPath.STAGED);
        }
    }

    /**
     * Through staging buffers of the driver's, as for a device with memory of its own; past the page cache, which wants
     * pages.
     */
    @Nested
    @Tag("variant")
    class DriversSlots implements BackendRules {
        @Override
        public TckSubject subject() {
            Options stagingBuffers = STAGED.with(OpenClOptions.STAGING_MEMORY, StagingMemory.DRIVER);
            return OpenClSubject.of(stagingBuffers, TransferPath.STAGED, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }
}
