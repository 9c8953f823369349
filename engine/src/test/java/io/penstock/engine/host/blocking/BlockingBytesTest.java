// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.blocking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.FileOption;
import io.penstock.engine.host.file.HostFileTest;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BlockingBytesTest {

    private static final Set<FileOption> BOTH = Set.of(FileOption.READ, FileOption.WRITE);

    private final BlockingBytes bytes = BlockingBytes.INSTANCE;
    private long memory;

    @TempDir
    Path directory;

    static Stream<HostFileTest.Opener> variants() {
        return HostFileTest.variants();
    }

    @BeforeEach
    void allocate() {
        memory = NativeMemory.allocate(100);
    }

    @AfterEach
    void free() {
        if (memory != 0) {
            NativeMemory.free(memory);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void bytesAreMovedInBothDirectionsAndTheEndOfTheFileIsZero(HostFileTest.Opener variant) throws IOException {
        Path path = Files.write(directory.resolve("file"), new byte[] {1, 2, 3, 4, 5});
        HostFile file = variant.open(path, BOTH, 4096);
        assertThat(bytes.blockBytes(file)).isEqualTo(1);
        assertThat(bytes.read(file, 1, memory, 100)).isEqualTo(4);
        assertThat(bytes.read(file, 5, memory, 100)).isZero();
        bytes.move(memory + 1, memory, 4);
        assertThat(bytes.write(file, 0, memory, 5)).isEqualTo(5);
        assertThat(bytes.sync(file)).isZero();
        assertThat(Files.readAllBytes(path)).containsExactly(2, 2, 3, 4, 5);
        file.close();
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aClosedFileRefuses(HostFileTest.Opener variant) throws Exception {
        Path path = Files.write(directory.resolve("file"), new byte[] {1, 2, 3, 4, 5});
        HostFile file = variant.open(path, BOTH, 4096);
        file.close();
        assertRefused(Request.Kind.READ, () -> bytes.read(file, 0, memory, 5));
        assertRefused(Request.Kind.WRITE, () -> bytes.write(file, 0, memory, 5));
        assertRefused(Request.Kind.SYNC, () -> bytes.sync(file));
    }

    @Test
    void aCallThatASignalHasInterruptedIsRepeated() throws IOException {
        assumeTrue(Machine.isSupported(), "64-bit Linux on a known architecture");
        Path path = Files.write(directory.resolve("file"), new byte[] {1, 2, 3, 4, 5});
        InterruptedCalls calls = new InterruptedCalls();
        HostFile file = LinuxFile.open(calls, path, BOTH, 4096);
        assertThat(bytes.read(file, 1, memory, 100)).isEqualTo(4);
        calls.interrupted = false;
        assertThat(bytes.write(file, 0, memory, 4)).isEqualTo(4);
        file.close();
        assertThat(Files.readAllBytes(path)).containsExactly(2, 3, 4, 5, 5);
    }

    /** Answers the next read or write with EINTR. */
    private static final class InterruptedCalls implements FileCalls {
        boolean interrupted;

        @Override
        public long read(int fd, long address, long bytes, long offset) {
            return interrupt() ? -Errno.EINTR : FileCalls.super.read(fd, address, bytes, offset);
        }

        @Override
        public long write(int fd, long address, long bytes, long offset) {
            return interrupt() ? -Errno.EINTR : FileCalls.super.write(fd, address, bytes, offset);
        }

        private boolean interrupt() {
            boolean first = !interrupted;
            interrupted = true;
            return first;
        }
    }

    private void assertRefused(Request.Kind kind, Callable<Long> call) throws Exception {
        NativeFailure failure;
        try {
            long result = call.call();
            assertThat(result).isNegative();
            failure = bytes.failure(kind, result);
        } catch (IOException unnumbered) {
            failure = bytes.failure(kind, unnumbered);
        }
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);
        assertThat(failure.error().symbol()).isIn("EBADF", "java.nio.channels.ClosedChannelException");
    }

    @Test
    void errorsCarryCallCodeAndSymbol() {
        NativeFailure full = bytes.failure(Request.Kind.WRITE, -28);
        assertThat(full.error()).hasToString("pwrite -> ENOSPC (28)");
        assertThat(full.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);
        assertThat(bytes.failure(Request.Kind.READ, -11).kind()).isEqualTo(NativeFailure.Kind.RETRY);
        assertThat(bytes.failure(Request.Kind.READ, -12).kind()).isEqualTo(NativeFailure.Kind.TRANSIENT);
    }
}
