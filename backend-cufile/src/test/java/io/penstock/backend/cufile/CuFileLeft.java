// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.cufile.doubles.Doubles;

/** What tests look at when all is closed. */
final class CuFileLeft {

    private CuFileLeft() {}

    /** All that was made is gone, and was used and torn down as the vendor wants. */
    static void assertNothing() {
        assertThat(Doubles.complaint()).isEmpty();
        assertThat(CuFileDriver.PROCESS.users()).as("users of cuFile's driver").isZero();
        assertThat(RegisteredMemory.PROCESS.count()).as("registrations").isZero();
        for (String kind : new String[] {"handles", "buffers", "batches", "streams"}) {
            assertThat(Doubles.cufile().live(kind)).as("cuFile's %s", kind).isZero();
        }
        for (String kind : new String[] {"contexts", "streams", "events", "allocations", "host_allocations"}) {
            assertThat(Doubles.cuda().live(kind)).as(kind).isZero();
        }
    }
}
