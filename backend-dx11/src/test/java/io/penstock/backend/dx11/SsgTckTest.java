// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Options;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.tck.BackendRules;
import io.penstock.tck.EdgeRules;
import io.penstock.tck.PairRules;
import io.penstock.tck.ReadRules;
import io.penstock.tck.TckSubject;
import io.penstock.tck.WriteRules;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** The rules by AMD's interface, on a fake of its driver. */
class SsgTckTest {

    private static TckSubject subject(Options options) {
        // Staging buffers, which few transfers need here, are soon made and filled.
        return new SsgSubject(
                options.with(Dx11Options.DEVICE, Dx11s.sharedDevice()).with(StagingOptions.BUFFER_BYTES, 64L << 10));
    }

    private static void nothingIsLeft() {
        assertThat(SsgFake.complaints()).isEmpty();
        assertThat(SsgFake.live()).isZero();
    }

    /** By events, in regions of 16 KiB. */
    @Nested
    class Asynchronous implements BackendRules {
        @BeforeAll
        static void machine() {
            SsgFake.require();
            SsgFake.reset(1);
        }

        @AfterAll
        static void end() {
            nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            return SsgTckTest.subject(SsgFake.options(1).with(Dx11Options.SSG_REGION_BYTES, 16L << 10));
        }
    }

    /** By calls that block, where structures and handles lie otherwise. */
    @Nested
    class Synchronous implements ReadRules, WriteRules, EdgeRules, PairRules {
        @BeforeAll
        static void machine() {
            SsgFake.require();
            SsgFake.reset(2);
        }

        @AfterAll
        static void end() {
            nothingIsLeft();
        }

        @Override
        public TckSubject subject() {
            return SsgTckTest.subject(SsgFake.options(2).with(Dx11Options.SSG_ASYNCHRONOUS, false));
        }
    }
}
