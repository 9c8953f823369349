// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.options.GlOptions;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules by AMD's extension, on a fake of its driver. */
class SsgTckTest {

    /** Straight into visible memory, with a sync of the driver's for each group; the driver does not see files grow. */
    @Nested
    @Tag("variant")
    class Visible implements BackendRules {
        @BeforeAll
        static void machine() {
            SsgSubject.machine("block_size", 512);
        }

        @AfterAll
        static void nothingIsLeft() {
            SsgSubject.nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            return SsgSubject.of(SsgSubject.said());
        }
    }

    /** Into the device's own memory, by a ring; the driver uses our sync. */
    @Nested
    @Tag("variant")
    class Ring implements BackendRules {
        @BeforeAll
        static void machine() {
            SsgSubject.machine("block_size", 4096, "sync", 1);
        }

        @AfterAll
        static void nothingIsLeft() {
            SsgSubject.nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            return SsgSubject.of(SsgSubject.ring());
        }
    }

    /** Where the driver ignores syncs, has narrow handles, and lengthens files that it writes by whole blocks. */
    @Nested
    @Tag("variant")
    class Ignored implements BackendRules {
        @BeforeAll
        static void machine() {
            SsgSubject.machine("block_size", 4096, "sync", 2, "handle_bits", 32, "grows", 1);
        }

        @AfterAll
        static void nothingIsLeft() {
            SsgSubject.nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            return SsgSubject.of(SsgSubject.said().with(GlOptions.SSG_HANDLE_BITS, "32"));
        }
    }

    /** Where the driver refuses syncs, and sees files grow. */
    @Nested
    @Tag("variant")
    class Refused implements BackendRules {
        @BeforeAll
        static void machine() {
            SsgSubject.machine("block_size", 512, "sync", 3, "growth_seen", 1);
        }

        @AfterAll
        static void nothingIsLeft() {
            SsgSubject.nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            return SsgSubject.of(SsgSubject.ring());
        }
    }
}
