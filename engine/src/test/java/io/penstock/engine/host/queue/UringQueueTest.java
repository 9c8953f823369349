// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.ScriptedKernel;
import io.penstock.engine.host.kernel.ScriptedKernel.Sqe;
import io.penstock.engine.host.queue.QueueFixture.Completed;
import io.penstock.engine.host.uring.RingFixture;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.memory.MappedMemory;
import io.penstock.engine.kit.memory.MemoryMapping;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UringQueueTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    @TempDir
    Path directory;

    @BeforeAll
    static void onAKernelWithRings() {
        RingFixture.assumeRing();
    }

    @Test
    void oneEnterHandsOverAWholeTurn() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            for (int id = 0; id < QueueFixture.DEPTH; id++) {
                f.read(id, 0, 0, 4096);
            }
            assertThat(kernel.enters).isZero();
            f.turn(0);
            assertThat(kernel.enters).isEqualTo(1);
            f.await(QueueFixture.DEPTH);
        }
    }

    @Test
    void aTurnWithNothingToDoMakesNoSystemCall() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            f.turn(0);
            f.queue.wakeup().wake();
            f.turn(-1);
            assertThat(kernel.enters).isZero();
        }
    }

    @Test
    void largeCachedCommandsGoToWorkersAndSmallOnesNever() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            f.read(0, 0, 0, 4096);
            f.read(1, 0, 0, (64 << 10) - 1);
            f.read(2, 0, 0, 64 << 10);
            f.write(3, 0, 0, 64 << 10);
            f.await(4);
            assertThat(kernel.submitted)
                    .extracting(sqe -> (sqe.flags() & IoUring.IOSQE_ASYNC) != 0)
                    .startsWith(false, false, true, true);
        }
    }

    @Test
    void aLoneCommandStaysOnTheQueueUnlessItIsVeryLarge() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            f.read(0, 0, 0, 128 << 10);
            f.await(1);
            f.read(0, 0, 0, 512 << 10);
            f.await(2);
            assertThat(kernel.submitted)
                    .filteredOn(sqe -> sqe.length() > 8)
                    .extracting(sqe -> (sqe.flags() & IoUring.IOSQE_ASYNC) != 0)
                    .containsExactly(false, true);
        }
    }

    @Test
    void oftenUsedFilesAreRegisteredAndAClosedFileIsRemoved() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            for (int i = 0; i < 100; i++) {
                f.read(0, 0, 0, 4096);
                f.await(i + 1);
            }
            Sqe first = kernel.submitted.get(0);
            Sqe last = kernel.submitted.stream()
                    .filter(sqe -> sqe.length() == 4096)
                    .reduce((a, b) -> b)
                    .orElseThrow();
            assertThat(first.opcode()).isEqualTo(IoUring.IORING_OP_READ);
            assertThat(first.fd()).isEqualTo(((LinuxFile) f.file).fd());
            assertThat(first.flags()).isZero();
            assertThat(last.opcode()).isEqualTo(IoUring.IORING_OP_READ_FIXED);
            assertThat(last.flags()).isEqualTo(IoUring.IOSQE_FIXED_FILE);
            assertThat(f.bytes(0, 4096)).isEqualTo(Arrays.copyOf(f.content, 4096));

            assertThat(Collections.frequency(kernel.registered, IoUring.IORING_REGISTER_FILES_UPDATE))
                    .isEqualTo(1);
            f.file.close();
            assertThat(Collections.frequency(kernel.registered, IoUring.IORING_REGISTER_FILES_UPDATE))
                    .isEqualTo(2);
            f.memory.free();
            f.bounce.free();
            f.slabs.trim();
            f.turn(0);
            assertThat(Collections.frequency(kernel.registered, IoUring.IORING_REGISTER_BUFFERS_UPDATE))
                    .isEqualTo(2);
        }
    }

    /** Memory that a device's driver has mapped. */
    private record Mapped(MemoryMapping mapping) implements MappedMemory {

        @Override
        public long bytes() {
            return mapping.bytes();
        }

        @Override
        public long nativeHandle() {
            return 1;
        }

        @Override
        public long hostAddress() {
            return mapping.address();
        }

        @Override
        public void free() {
            mapping.retire();
        }
    }

    private int lastOpcode(QueueFixture f, DeviceMemory memory) {
        int before = f.completed.size();
        for (int i = 1; i <= 100; i++) {
            f.queue.enqueue(
                    f.request(0).file(Request.Kind.READ, f.file, 0, 4096).memory(memory, 8192));
            f.await(before + i);
        }
        return kernel.submitted.stream()
                .filter(sqe -> sqe.length() == 4096)
                .reduce((a, b) -> b)
                .orElseThrow()
                .opcode();
    }

    @Test
    void memoryMappedByADriverIsRegisteredTooUntilItIsUnmapped() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            Mapped mapped = new Mapped(new MemoryMapping(f.memory.hostAddress(), f.memory.bytes()));
            assertThat(lastOpcode(f, mapped)).isEqualTo(IoUring.IORING_OP_READ_FIXED);
            assertThat(f.bytes(8192, 4096)).isEqualTo(Arrays.copyOf(f.content, 4096));
            mapped.free();
            f.turn(0);
            assertThat(Collections.frequency(kernel.registered, IoUring.IORING_REGISTER_BUFFERS_UPDATE))
                    .as("registered, and taken out")
                    .isEqualTo(2);
        }
    }

    /** The queue has had no turn meanwhile in which it would have seen that the first is gone. */
    @Test
    void aMappingThatReusesAnIndexDoesNotGetTheOldPages() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            Mapped gone = new Mapped(new MemoryMapping(f.memory.hostAddress(), f.memory.bytes()));
            assertThat(lastOpcode(f, gone)).isEqualTo(IoUring.IORING_OP_READ_FIXED);
            gone.free();
            Mapped next = new Mapped(new MemoryMapping(f.bounce.hostAddress(), f.bounce.bytes()));
            assertThat(next.mapping().index()).isEqualTo(gone.mapping().index());
            f.completed.clear();
            f.queue.enqueue(
                    f.request(1).file(Request.Kind.READ, f.file, 0, 4096).memory(next, 0));
            f.await(1);
            assertThat(f.completed).containsExactly(new Completed(1, 4096));
            byte[] bytes = new byte[4096];
            f.bounce.buffer(0, 4096).get(bytes);
            assertThat(bytes).isEqualTo(Arrays.copyOf(f.content, 4096));
            next.free();
        }
    }

    @Test
    void aMappingThatTheKernelDoesNotRegisterIsUsedUnregisteredAndTriedOnce() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            Mapped mapped = new Mapped(new MemoryMapping(f.memory.hostAddress(), f.memory.bytes()));
            kernel.registerAnswer = -Errno.EFAULT; // of memory without pages to lock
            assertThat(lastOpcode(f, mapped)).isEqualTo(IoUring.IORING_OP_READ);
            assertThat(f.bytes(8192, 4096)).isEqualTo(Arrays.copyOf(f.content, 4096));
            assertThat(Collections.frequency(kernel.registered, IoUring.IORING_REGISTER_BUFFERS_UPDATE))
                    .isEqualTo(1);
            kernel.registerAnswer = 0;
            assertThat(lastOpcode(f, mapped)).isEqualTo(IoUring.IORING_OP_READ);
            assertThat(lastOpcode(f, f.memory)).as("plain memory").isEqualTo(IoUring.IORING_OP_READ_FIXED);
            mapped.free();
        }
    }

    @Test
    void refusedTablesAreDoneWithout() throws IOException {
        kernel.registerAnswer = -Errno.ENOMEM;
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            for (int i = 0; i < 100; i++) {
                f.read(0, 0, 0, 4096);
                f.await(i + 1);
            }
            assertThat(f.completed).containsOnly(new Completed(0, 4096));
        }
    }

    @Test
    void anOperationInFlightIsCancelled() throws IOException {
        LinuxFile counter = LinuxFile.adopt(Path.of("eventfd"), kernel.eventfd());
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            f.read(5, counter, 0, 0, 8);
            f.turn(0);
            assertThat(f.completed).isEmpty();
            f.cancel(5);
            f.await(1);
            assertThat(f.completed).containsExactly(new Completed(5, -Errno.ECANCELED));
            assertThat(f.failures.get(5).kind()).isEqualTo(NativeFailure.Kind.CANCELLED);
        }
        counter.close();
    }

    @Test
    void anOperationInFlightEndsWhenItsFileIsReady() throws IOException {
        LinuxFile counter = LinuxFile.adopt(Path.of("eventfd"), kernel.eventfd());
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            f.read(0, counter, 0, 0, 8);
            f.turn(1_000_000);
            kernel.eventfdSignal(counter.fd());
            f.await(1);
            assertThat(f.completed).containsExactly(new Completed(0, 8));
        }
        counter.close();
    }

    @Test
    void aBrokenRingAnswersEveryCommandWithItsError() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            kernel.enterAnswers.add(-Errno.EBADF);
            f.read(0, 0, 0, 4096);
            f.read(1, 0, 0, 4096);
            f.turn(-1);
            assertThat(f.completed).containsExactly(new Completed(0, -Errno.EBADF), new Completed(1, -Errno.EBADF));
            f.read(0, 0, 0, 4096);
            f.turn(-1);
            assertThat(f.completed).hasSize(3).endsWith(new Completed(0, -Errno.EBADF));
            f.cancel(0);
        }
    }

    @Test
    void aSubmissionIsRepeatedWhenTheKernelHasNoMemoryForIt() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            kernel.enterAnswers.addAll(Collections.nCopies(20, -Errno.EAGAIN));
            f.read(0, 0, 0, 4096);
            f.await(1);
            assertThat(f.completed).containsExactly(new Completed(0, 4096));

            kernel.enterAnswers.addAll(Collections.nCopies(1001, -Errno.EAGAIN));
            f.read(0, 0, 0, 4096);
            f.await(2);
            assertThat(f.completed).endsWith(new Completed(0, -Errno.EAGAIN));
            assertThat(f.failures.get(0).kind()).isEqualTo(NativeFailure.Kind.RETRY);
        }
    }

    @Test
    void everythingOpenedIsClosed() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            f.read(0, 0, 0, 4096);
            f.await(1);
            f.turn(1_000_000);
        }
        assertThat(kernel.opened).isEqualTo(2).isEqualTo(kernel.closed);
        assertThat(kernel.unmapped).isEqualTo(kernel.mapped);
    }

    @Test
    void required_201_theReadThatWaitsForAWakeHasEndedBeforeItsMemoryGoes() throws IOException {
        try (QueueFixture f = QueueFixture.uring(directory, kernel)) {
            f.turn(1_000_000);
            assertThat(kernel.submitted)
                    .as("the read of the counter")
                    .extracting(Sqe::length)
                    .containsExactly(Long.BYTES);
        }
        assertThat(kernel.unmapped).isEqualTo(kernel.mapped);
        assertThat(kernel.leftInFlight).isZero();
    }

    @Test
    void aQueueWithoutACounterLeavesNothingBehind() {
        kernel.eventfdAnswer = -24; // EMFILE
        assertThatThrownBy(() ->
                        UringQueue.open(kernel, Options.none().with(CommonOptions.QUEUE_DEPTH, QueueFixture.DEPTH)))
                .isInstanceOf(ErrnoException.class)
                .hasMessageContaining("eventfd");
        assertThat(kernel.opened).isEqualTo(kernel.closed).isEqualTo(1);
        assertThat(kernel.unmapped).isEqualTo(kernel.mapped).isPositive();
    }
}
