// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MachineTest {

    @Test
    void aThreadThatSleepsInARingLeavesItsProcessorIdle() {
        // Of 100 ticks 10 are of users, 50 idle, 40 waited for I/O: what an I/O queue that waits to be woken looks
        // like.
        String before = "cpu  100 0 200 1000 300 0 0 0 0 0";
        String after = "cpu  110 0 200 1050 340 0 0 0 0 0";
        assertThat(Machine.idleShare(before, after)).isEqualTo(0.9);
    }

    @Test
    void everyDiskCounts() {
        assertThat(Machine.diskMillis(List.of(
                        "   7       0 loop0 142246 1045 946738 33892 28314 21621 2526592 9041 0 3936 43343 0 0 0 0 15044 408",
                        " 254       0 vda 1 2 3 4 5 6 7 8 9 5000 11 0 0 0 0 12 13")))
                .isEqualTo(8936);
    }
}
