// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.kernel.RingAvailability;
import io.penstock.engine.host.uring.RingProbe;
import io.penstock.tck.Bench;
import io.penstock.tck.Rules;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kernels, containers and limits that refuse io_uring: the pool takes over and says why, and who insists is told what
 * would help.
 */
@Tag(Tool.FAULTS)
@Tag("slow")
class UringRefusedTest implements Rules {

    private static final String SETUP = "425"; // io_uring_setup, on every architecture
    private static final String ENTER = "426";
    private static final String REGISTER = "427";
    private static final String EPERM = "1";
    private static final String ENOMEM = "12";
    private static final String ENOSYS = "38";
    private static final Path SYSCTL = Path.of("/proc/sys/kernel/io_uring_disabled");
    private static final String ALL_MOVED = "moved: " + 200 * 32_768 + " bytes";

    @Override
    public TckSubject subject() {
        return FaultSubject.pool();
    }

    private static String readWhileRefused(Bench bench, String errno) throws IOException {
        return readWhileRefused(bench, SETUP, errno);
    }

    private static String readWhileRefused(Bench bench, String call, String errno) throws IOException {
        Path file = bench.file("data", 1 << 20);
        Path launcher = Tool.require(() -> Tool.compiled("refuse-call"));
        return ChildJvm.run(file, launcher.toString(), call, errno);
    }

    private static void assertFallsBack(String said, String reason, String answer) {
        assertThat(said)
                .contains(ALL_MOVED)
                .containsPattern("listed: Availability\\[available=true,.*" + reason)
                .as("rule 503")
                .containsPattern(
                        "INFO .* - backend host: blocking calls on threads: io_uring cannot be used \\(" + reason)
                .containsPattern("means: blocking calls on threads: .*" + reason + ".*fallback: true")
                .contains("fallbacks: 200")
                .containsPattern(
                        "reason: blocking calls on threads: io_uring cannot be used \\(" + reason + ".*" + answer)
                .containsPattern(
                        "forced: NOT_STARTED backend 'host' cannot be used: penstock.host.io=uring, but .*" + reason);
    }

    @Test
    void required_503_theLogNamesTheMeansWhereNothingIsRefused(Bench bench) throws IOException {
        FaultSubject.uring();
        assertThat(ChildJvm.run(bench.file("data", 1 << 20)))
                .contains("backend host: io_uring", "means: io_uring, fallback: false", "fallbacks: 0");
    }

    @Test
    void aSeccompFilterIsDistinguished(Bench bench) throws IOException {
        assertFallsBack(readWhileRefused(bench, EPERM), "FORBIDDEN_BY_SECCOMP", "EPERM \\(1\\)");
    }

    @Test
    void aSeccompFilterOfOneOfTheOtherCallsIsDistinguished(Bench bench) throws IOException {
        FaultSubject.uring();
        assertFallsBack(readWhileRefused(bench, ENTER, EPERM), "FORBIDDEN_BY_SECCOMP", "io_uring_enter -> EPERM");
        assertFallsBack(readWhileRefused(bench, REGISTER, EPERM), "FORBIDDEN_BY_SECCOMP", "io_uring_register -> EPERM");
    }

    @Test
    void aKernelWithoutTheSystemCallIsDistinguished(Bench bench) throws IOException {
        assertFallsBack(readWhileRefused(bench, ENOSYS), "NO_SYSTEM_CALL", "ENOSYS \\(38\\)");
    }

    @Test
    void aKernelThatChargesRingsToLockedMemoryIsDistinguished(Bench bench) throws IOException {
        assertFallsBack(readWhileRefused(bench, ENOMEM), "LOCKED_MEMORY_LIMIT", "ENOMEM \\(12\\)");
    }

    private static String readWithLockedMemory(Path file, int bytes) {
        return Tool.require(() -> ChildJvm.run(file, Tool.withLockedMemory(bytes)));
    }

    @Test
    void withoutAnyLockedMemoryAllIsReadOnSomePath(Bench bench) {
        FaultSubject.uring();
        String said = readWithLockedMemory(bench.file("data", 1 << 20), 0);
        assertThat(said).contains(ALL_MOVED);
        // Kernels before 5.12 charge the rings themselves, and newer ones do again.
        if (!said.contains("forced: host")) {
            assertFallsBack(said, "LOCKED_MEMORY_LIMIT", "ENOMEM \\(12\\)");
        }
    }

    /** Enough for the probe's ring, and not for the rings of the I/O queues. */
    @Test
    void withTooLittleLockedMemoryForTheRingsOfTransfersThePoolReads(Bench bench) throws IOException {
        FaultSubject.uring();
        Path file = bench.file("data", 1 << 20);
        readWithLockedMemory(file, 0); // skips this test if there is no setpriv
        for (int kib : new int[] {32, 64, 96}) {
            assertThat(ChildJvm.run(file, Tool.withLockedMemory(kib << 10)))
                    .as("%d KiB", kib)
                    .contains(ALL_MOVED);
        }
    }

    @Test
    void withALowMemlockLimitIoUringContinuesWithoutRegisteredBuffers(Bench bench) throws IOException {
        FaultSubject.uring();
        Path file = bench.file("data", 1 << 20);
        String said = readWithLockedMemory(file, 1 << 20);
        assertThat(said).contains(ALL_MOVED, "forced: host");
        assertThat(said).as("io_uring, not the pool").containsPattern("reason: \\R");
        assertThat(pinnedKib(said)).as("memory pinned").isLessThan(1024);

        assertThat(pinnedKib(ChildJvm.run(file)))
                .as("memory pinned where the limit is high")
                .isGreaterThanOrEqualTo(4096);
    }

    private static int pinnedKib(String said) {
        Matcher pinned = Pattern.compile("VmPin:\\s+(\\d+) kB").matcher(said);
        assertThat(pinned.find()).as(said).isTrue();
        return Integer.parseInt(pinned.group(1));
    }

    /** The setting is the whole machine's: elsewhere than in CI others would notice. */
    @Test
    void aSystemSettingIsDistinguished() throws IOException {
        assumeTrue("true".equals(System.getenv("CI")), "not CI, and sysctl kernel.io_uring_disabled is everybody's");
        FaultSubject.uring();
        String before = Files.readString(SYSCTL).strip();
        Thread restore = new Thread(() -> set(before));
        Runtime.getRuntime().addShutdownHook(restore);
        RingAvailability found;
        try {
            Tool.require(() -> Files.writeString(SYSCTL, "2"));
            found = RingProbe.probe(LinuxKernel.INSTANCE);
        } finally {
            set(before);
            Runtime.getRuntime().removeShutdownHook(restore);
        }
        assertThat(found.reason()).isEqualTo(RingAvailability.Reason.FORBIDDEN_BY_SYSCTL);
        assertThat(found.detail()).contains("EPERM", "io_uring_disabled=2");
        assertThat(RingProbe.probe(LinuxKernel.INSTANCE).isAvailable()).isTrue();
    }

    private static void set(String value) {
        try {
            Files.writeString(SYSCTL, value);
        } catch (IOException e) {
            throw new AssertionError("kernel.io_uring_disabled stays as it is", e);
        }
    }
}
