// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

class RequireTest {

    @Test
    void anAvailableBackendRuns() {
        assertThatCode(() -> Require.check(Set.of("host"), "host", null)).doesNotThrowAnyException();
    }

    @Test
    void anAbsentBackendIsSkippedWithItsReason() {
        assertThatThrownBy(() -> Require.check(Set.of("host"), "io_uring", "forbidden by seccomp"))
                .isInstanceOf(TestAbortedException.class)
                .hasMessage("io_uring: forbidden by seccomp");
    }

    @Test
    void aRequiredBackendThatIsAbsentFails() {
        assertThatThrownBy(() -> Require.check(Set.of("io_uring"), "io_uring", "forbidden by seccomp"))
                .isInstanceOf(AssertionFailedError.class)
                .hasMessageContaining("PENSTOCK_REQUIRE names io_uring")
                .hasMessageContaining("forbidden by seccomp");
    }

    @Test
    void namesAreSeparatedByCommas() {
        assertThat(Require.parse("host, io_uring,")).containsExactlyInAnyOrder("host", "io_uring");
        assertThat(Require.parse(null)).isEmpty();
    }

    @Test
    void aReasonOfSeveralLinesIsPrintedOnOne() {
        assertThatThrownBy(() -> Require.check(Set.of(), "faults", "\ncc ended with 1:\n  fuse.h: No such file\n"))
                .isInstanceOf(TestAbortedException.class)
                .hasMessage("faults: cc ended with 1: fuse.h: No such file");
    }
}
