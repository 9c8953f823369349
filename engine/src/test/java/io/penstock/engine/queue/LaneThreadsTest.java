// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.spi.Limits;
import org.junit.jupiter.api.Test;

class LaneThreadsTest {

    @Test
    void backendsShareLanesOnlyWhereTheirOptionsAreTheSame() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        Lanes first = LaneThreads.acquire(device, Options.none());
        Lanes second = LaneThreads.acquire(device, Options.none());
        Lanes narrow = LaneThreads.acquire(device, Options.none().with(CommonOptions.LANE_BYTES, 1L << 20));
        assertThat(second).isSameAs(first);
        assertThat(narrow).isNotSameAs(first);
        first.release().join();
        second.release().join();
        narrow.release().join();
        Lanes later = LaneThreads.acquire(device, Options.none());
        assertThat(later).as("after the last has left").isNotSameAs(first);
        later.release().join();
    }
}
