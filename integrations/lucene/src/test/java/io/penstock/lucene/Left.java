// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import java.util.concurrent.locks.LockSupport;

/** What a directory that was closed has left: transfers that are under way end behind it. */
final class Left {

    private Left() {}

    /** Returns when a backend has no buffers, files and pins; the time limit of tests ends the wait. */
    static void awaitNothing(Backend backend) {
        while (backend.counters().buffers()
                        + backend.counters().files()
                        + backend.counters().pins()
                > 0) {
            assertThat(Thread.interrupted()).as("left: %s", backend.counters()).isFalse();
            LockSupport.parkNanos(1_000_000);
        }
    }
}
