// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.backend.hip.fakes.HipDouble;
import io.penstock.backend.hip.ffi.Hip;
import io.penstock.backend.hip.ffi.HipFile;
import io.penstock.engine.testing.BackendFixture;

/** What tests look at when all is closed. */
final class HipLeft {

    private HipLeft() {}

    /** All that was made goes with the backend, or right behind, and was used and torn down as the vendor wants. */
    static void assertNothing() {
        assertThat(HipDouble.complaint()).isEmpty();
        for (String kind : new String[] {"handles", "buffers", "batches", "streams"}) {
            assertThat(HipDouble.files().awaitLive(kind, 0))
                    .as("hipFile's %s", kind)
                    .isZero();
        }
        for (String kind : new String[] {
            "streams", "events", "allocations", "host_allocations", "host_registrations", "host_buffers"
        }) {
            assertThat(HipDouble.gpu().awaitLive(kind, 0)).as(kind).isZero();
        }
        BackendFixture.await(() -> !FileDriver.isUsed(HipFile.over(Hip.DRIVER))); // left behind the last file
    }
}
