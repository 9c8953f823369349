// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.backend.gpu.file.RegisteredMemory;

/** What tests look at when all is closed. */
final class CuFileLeft {

    private CuFileLeft() {}

    /** All that was made goes with the backend, or right behind, and was used and torn down as the vendor wants. */
    static void assertNothing() {
        assertThat(Fakes.complaint()).isEmpty();
        for (String kind : new String[] {"handles", "buffers", "batches", "streams"}) {
            assertThat(Fakes.cufile().awaitLive(kind, 0))
                    .as("cuFile's %s", kind)
                    .isZero();
        }
        for (String kind : new String[] {
            "contexts", "streams", "events", "allocations", "host_allocations", "host_registrations", "host_buffers"
        }) {
            assertThat(Fakes.cuda().awaitLive(kind, 0)).as(kind).isZero();
        }
        GpuFixture.await(() -> !FileDriver.isUsed(CuFile.API)); // left behind the last file
        assertThat(RegisteredMemory.count()).as("registrations").isZero();
    }
}
