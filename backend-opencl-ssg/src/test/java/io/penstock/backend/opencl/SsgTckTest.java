// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules by AMD's extension, on a fake of its driver. */
class SsgTckTest {

    /** Straight into persistent memory, by one command queue out of order. */
    @Nested
    @Tag("variant")
    class Persistent implements BackendRules {
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
            return SsgSubject.of(SsgSubject.PERSISTENT);
        }
    }

    /** Into ordinary memory, by a ring. */
    @Nested
    @Tag("variant")
    class Ring implements BackendRules {
        @BeforeAll
        static void machine() {
            SsgSubject.machine(4096, false);
        }

        @AfterAll
        static void nothingIsLeft() {
            SsgSubject.nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            return SsgSubject.of(SsgSubject.RING);
        }
    }

    /** By command queues in order, where the driver lengthens files by whole blocks. */
    @Nested
    @Tag("variant")
    class InOrder implements BackendRules {
        @BeforeAll
        static void machine() {
            SsgSubject.machine(4096, true);
        }

        @AfterAll
        static void nothingIsLeft() {
            SsgSubject.nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            return SsgSubject.of(SsgSubject.PERSISTENT.with(OpenClOptions.SSG_QUEUES, 3));
        }
    }

    /** By one command queue in order and a ring, where the driver lengthens files. */
    @Nested
    @Tag("variant")
    class RingInOrder implements BackendRules {
        @BeforeAll
        static void machine() {
            SsgSubject.machine(512, true);
        }

        @AfterAll
        static void nothingIsLeft() {
            SsgSubject.nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            return SsgSubject.of(SsgSubject.RING.with(OpenClOptions.SSG_QUEUES, 1));
        }
    }
}
