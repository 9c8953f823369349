// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules straight into mapped buffers. */
class MapTckTest {

    private static final Options MAP = Options.none().with(OpenClOptions.PATH, OpenClPath.MAP);

    /** From and to the page cache. */
    @Nested
    @Tag("variant")
    class Cached implements BackendRules {
        @Override
        public TckSubject subject() {
            return OpenClSubject.of(MAP, TransferPath.HOST);
        }
    }

    /** Of a device that has a copy of its own of what is mapped, and starts nothing that is not flushed. */
    @Nested
    @Tag("variant")
    class Copied implements BackendRules {
        @BeforeAll
        static void machine() {
            SsgSubject.machine(512, false);
        }

        @AfterAll
        static void nothingIsLeft() {
            SsgSubject.nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            SsgFake.require();
            return OpenClSubject.of(MAP, TransferPath.HOST);
        }
    }

    /** Past the page cache, in whole blocks. */
    @Nested
    @Tag("variant")
    class Direct implements BackendRules {
        @Override
        public TckSubject subject() {
            return OpenClSubject.of(MAP, TransferPath.HOST, FileOption.DIRECT, FileOption.EXCLUSIVE);
        }
    }

    /** By blocking calls, as where io_uring is forbidden. */
    @Nested
    @Tag("variant")
    class Pool implements BackendRules {
        @Override
        public TckSubject subject() {
            return OpenClSubject.of(MAP.with(HostOptions.IO, HostIo.POOL), TransferPath.HOST);
        }
    }
}
