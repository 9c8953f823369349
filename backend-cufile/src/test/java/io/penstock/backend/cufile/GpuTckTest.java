// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.FileOption;
import io.penstock.TransferPath;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules on the machine's own GPU and libraries, on every way; {@code .ci/gpu} runs them. */
@Tag("gpu") // in a JVM of its own: a process loads one libcuda
class GpuTckTest {

    @BeforeAll
    static void thereIsAGpu() {
        GpuSubject.require();
    }

    /** Through pinned staging buffers. */
    @Nested
    class Staged implements BackendRules {
        @Override
        public TckSubject subject() {
            return GpuSubject.of(CufilePath.STAGED, TransferPath.STAGED);
        }
    }

    /** Through pinned staging buffers, past the page cache. */
    @Nested
    class StagedUncached implements BackendRules {
        @Override
        public TckSubject subject() {
            return GpuSubject.of(CufilePath.STAGED, TransferPath.STAGED, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }

    /** By cuFile's calls that block. */
    @Nested
    class Sync implements BackendRules {
        @Override
        public TckSubject subject() {
            return GpuSubject.cufile(CufilePath.SYNC);
        }
    }

    /** By cuFile's calls that block, past the page cache. */
    @Nested
    class SyncUncached implements BackendRules {
        @Override
        public TckSubject subject() {
            return GpuSubject.cufile(CufilePath.SYNC, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }

    /** By cuFile's batches. */
    @Nested
    class Batch implements BackendRules {
        @Override
        public TckSubject subject() {
            return GpuSubject.cufile(CufilePath.BATCH);
        }
    }

    /** By cuFile's calls in the order of a stream. */
    @Nested
    class Stream implements BackendRules {
        @Override
        public TckSubject subject() {
            return GpuSubject.cufile(CufilePath.STREAM);
        }
    }

    /** From the page cache where files are promised not to change. */
    @Nested
    class Mapped implements BackendRules {
        @Override
        public TckSubject subject() {
            return GpuSubject.of(CufilePath.MAPPED, TransferPath.MAPPED, FileOption.IMMUTABLE);
        }
    }

    /** Whatever is best. */
    @Nested
    class Auto implements BackendRules {
        @Override
        public TckSubject subject() {
            return GpuSubject.of(CufilePath.AUTO, TransferPath.STAGED);
        }
    }
}
