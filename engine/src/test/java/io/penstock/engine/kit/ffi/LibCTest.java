// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LibCTest {

    @BeforeAll
    static void onLinuxOnly() {
        assumeTrue(Machine.isSupported(), "64-bit Linux on a known architecture");
    }

    @Test
    void failuresCarryTheirErrno() {
        assertThat(LibC.orErrno(LibC.close(-1))).isEqualTo(-Errno.EBADF);
        assertThat(LibC.orErrno(LibC.open("/no/such\0".getBytes(StandardCharsets.UTF_8), 0, 0)))
                .isEqualTo(-Errno.ENOENT);
        assertThat(LibC.orErrno(LibC.pread(-1, 0, 0, 0))).isEqualTo(-Errno.EBADF);
        assertThat(LibC.orErrno(LibC.syscall(LibC.SYS_IO_URING_ENTER, -1, 0, 0, 0, 0, 0)))
                .isEqualTo(-Errno.EBADF);
    }

    @Test
    void theProcessIdIsThatOfJava() {
        assertThat((long) LibC.getpid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(LibC.gettid()).isPositive();
        assertThat(LibC.pageSize()).isGreaterThanOrEqualTo(4096);
    }

    @Test
    void theTimerSlackOfAThreadIsMinimalOnceRequested() throws Exception {
        long before = LibC.timerSlackNanos();
        FutureTask<Long> asked = new FutureTask<>(() -> {
            TimerSlack.minimize();
            return LibC.timerSlackNanos();
        });
        new Thread(asked).start();
        assertThat(asked.get()).isEqualTo(1);
        assertThat(LibC.timerSlackNanos()).as("of this thread").isEqualTo(before);
    }

    @Test
    void errorNumbersHaveNames() {
        assertThat(Errno.describe(Errno.EIO)).isEqualTo("EIO (5)");
        assertThat(Errno.symbol(Errno.ETIME)).isEqualTo("ETIME");
        assertThat(Errno.symbol(Errno.EALREADY)).isEqualTo("EALREADY");
        assertThat(Errno.symbol(Errno.EOPNOTSUPP)).isEqualTo("EOPNOTSUPP");
        assertThat(Errno.symbol(Errno.ECANCELED)).isEqualTo("ECANCELED");
        assertThat(Errno.symbol(133)).isEqualTo("EHWPOISON");
        assertThat(Errno.symbol(134)).isEmpty();
        assertThat(Errno.describe(41)).isEqualTo("41");
        assertThat(Errno.describe(4711)).isEqualTo("4711");
        assertThat(Errno.symbol(-5)).isEmpty();
    }

    @Test
    void viewsSeeTheMemoryInNativeOrder() {
        ByteBuffer memory = ByteBuffer.allocateDirect(64);
        long address = NativeMemory.address(memory.position(8));
        NativeMemory.fill(address, 32, (byte) 7);
        NativeMemory.copy(address + 32, address, 32);
        ByteBuffer view = NativeMemory.view(address + 32, 32).putInt(0, 0x01020304);
        assertThat(view.capacity()).isEqualTo(32);
        assertThat(view.get(31)).isEqualTo((byte) 7);
        assertThat(memory.order(ByteOrder.nativeOrder()).getInt(32)).isEqualTo(0x01020304);
    }

    @Test
    void theMachineHasTheMemoryThatTheKernelReports() throws IOException {
        assumeThat(Machine.isSupported()).isTrue();
        long kib = Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith("MemTotal:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
        assertThat(LibC.physicalMemoryBytes()).isBetween(kib * 1024 / 10 * 9, kib * 1024 / 10 * 11);
    }

    @Test
    void theMachineIsWhatTheJvmReports() {
        assertThat(Machine.architecture())
                .isEqualTo(System.getProperty("os.arch").toLowerCase(Locale.ROOT));
        assertThat(Machine.operatingSystem())
                .isEqualTo(System.getProperty("os.name").toLowerCase(Locale.ROOT));
    }

    @Test
    void whatKeepsJnaFromNativeCodeIsReportedWithARemedy() {
        NativeAccess access = NativeAccess.of(new UnsatisfiedLinkError("jnidispatch"));
        assertThat(access.reason()).isEqualTo("JNA cannot be used (java.lang.UnsatisfiedLinkError: jnidispatch)");
        assertThat(access).hasToString(access.reason() + ": " + access.remedy());
        assertThat(access.remedy()).contains("jna.tmpdir");
    }
}
