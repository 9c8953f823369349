// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.host.staged.MoveAndTell;
import io.penstock.tck.Bench;
import io.penstock.tck.Rules;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Staging past the page cache, where the kernel registers its staging buffers, and where it does not. */
@Tag(Tool.FAULTS)
class StagingRefusedTest implements Rules {

    private static final String SETUP = "425"; // io_uring_setup, on every architecture
    private static final String EPERM = "1";
    private static final int BYTES = 4 << 20;
    private static final String ALL_MOVED = "moved: " + 20L * BYTES + " bytes";
    private static final String FACT = "staging buffers, past the page cache: ";

    @Override
    public TckSubject subject() {
        return FaultSubject.pool();
    }

    private static int pinnedKib(String said, String when) {
        Matcher pinned = Pattern.compile(when + ": VmPin:\\s+(\\d+) kB").matcher(said);
        assertThat(pinned.find()).as(said).isTrue();
        return Integer.parseInt(pinned.group(1));
    }

    @Test
    void stagingBuffersArePinnedOnceAndNoLongerThanTheyAreThere(Bench bench) throws IOException {
        FaultSubject.uring();
        String said = ChildJvm.run(MoveAndTell.class, bench.file("data", BYTES));
        assertThat(said).contains(ALL_MOVED, FACT + "registered with io_uring");
        assertThat(pinnedKib(said, "before")).isZero();
        assertThat(pinnedKib(said, "meanwhile")).isGreaterThanOrEqualTo(1024);
        assertThat(pinnedKib(said, "after")).isZero();
    }

    @Test
    void ifIoUringIsForbiddenBlockingCallsMoveAll(Bench bench) throws IOException {
        Path file = bench.file("data", BYTES);
        Path launcher = Tool.require(() -> Tool.compiled("refuse-call"));
        String said = ChildJvm.run(MoveAndTell.class, file, launcher.toString(), SETUP, EPERM);
        assertThat(said)
                .contains(ALL_MOVED, FACT + "pread and pwrite, since io_uring cannot be used (FORBIDDEN_BY_SECCOMP");
        assertThat(pinnedKib(said, "meanwhile")).isZero();
    }

    @Test
    void ifTheMemlockLimitIsLowBlockingCallsMoveUnregisteredMemory(Bench bench) throws IOException {
        FaultSubject.uring();
        Path file = bench.file("data", BYTES);
        int most = 1 << 20; // room for a ring, not for a staging buffer of 1 MiB and its slack
        String said = Tool.require(() -> ChildJvm.run(MoveAndTell.class, file, Tool.withLockedMemory(most)));
        assertThat(said)
                .contains(
                        ALL_MOVED,
                        FACT + "pread and pwrite where io_uring has refused them (io_uring_register -> ENOMEM");
        assertThat(pinnedKib(said, "meanwhile")).isLessThan(1024);
    }
}
