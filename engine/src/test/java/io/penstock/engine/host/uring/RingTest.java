// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.uring.RingFixture.Completed;
import io.penstock.engine.kit.ffi.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RingTest {
    private static final RingOptions SMALL = new RingOptions(8, 16);

    @TempDir
    Path directory;

    @BeforeAll
    static void onAKernelWithRings() {
        RingFixture.assumeRing();
    }

    @Test
    void readsAndWritesBytesWhereTheyBelong() throws IOException {
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            f.submissions.read(0, f.file.fd(), 4096, f.memory.hostAddress() + 64, 1000, 1);
            f.await(1);
            assertThat(f.completed).containsExactly(new Completed(1, 1000));
            assertThat(f.bytes(64, 1000)).isEqualTo(Arrays.copyOfRange(f.content, 4096, 5096));

            f.submissions.write(0, f.file.fd(), 0, f.memory.hostAddress() + 64, 1000, 2);
            f.await(2);
            f.submissions.fsync(0, f.file.fd(), true, 3);
            f.await(3);
            assertThat(f.completed).endsWith(new Completed(2, 1000), new Completed(3, 0));
            assertThat(Files.readAllBytes(f.file.path())).startsWith(Arrays.copyOfRange(f.content, 4096, 5096));
        }
    }

    @Test
    void endOfFileGivesAShortCountAndBadArgumentsAnErrno() throws IOException {
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            f.submissions.read(0, f.file.fd(), RingFixture.FILE_BYTES - 10, f.memory.hostAddress(), 4096, 1);
            f.await(1);
            f.submissions.read(0, f.file.fd(), RingFixture.FILE_BYTES, f.memory.hostAddress(), 4096, 2);
            f.await(2);
            f.submissions.read(0, -1, 0, f.memory.hostAddress(), 4096, 3);
            f.await(3);
            f.submissions.read(0, f.file.fd(), 0, 8, 4096, 4);
            f.await(4);
            assertThat(f.completed)
                    .containsExactly(
                            new Completed(1, 10),
                            new Completed(2, 0),
                            new Completed(3, -Errno.EBADF),
                            new Completed(4, -Errno.EFAULT));
        }
    }

    @Test
    void registeredFilesAndBuffersReadTheSameBytes() throws IOException {
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            RingRegistration registration = f.ring.registration();
            assertThat(registration.makeFileTable(64)).isZero();
            assertThat(registration.updateFile(5, f.file.fd())).isZero();
            assertThat(registration.makeBufferTable(64)).isZero();
            assertThat(registration.updateBuffer(7, f.memory.hostAddress(), f.memory.bytes()))
                    .isZero();

            long target = f.memory.hostAddress() + 8192;
            f.submissions.readFixed(SubmissionQueue.FIXED_FILE, 5, 512, target, 4096, 7, 1);
            f.submissions.readFixed(SubmissionQueue.FIXED_FILE, 6, 512, target, 4096, 7, 2);
            f.await(2);
            assertThat(f.completed).containsExactlyInAnyOrder(new Completed(1, 4096), new Completed(2, -Errno.EBADF));
            assertThat(f.bytes(8192, 4096)).isEqualTo(Arrays.copyOfRange(f.content, 512, 4608));

            f.submissions.writeFixed(SubmissionQueue.FIXED_FILE, 5, 0, target, 4096, 7, 3);
            f.await(3);
            assertThat(registration.updateBuffer(7, 0, 0)).isZero();
            f.submissions.readFixed(SubmissionQueue.FIXED_FILE, 5, 512, target, 4096, 7, 4);
            f.await(4);
            assertThat(f.completed).endsWith(new Completed(3, 4096), new Completed(4, -Errno.EFAULT));
        }
    }

    @Test
    void aFullSubmissionQueueRefusesEntriesUntilItIsSubmitted() throws IOException {
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            for (int i = 0; i < 8; i++) {
                assertThat(f.submissions.nop(i)).isTrue();
            }
            assertThat(f.submissions.nop(8)).isFalse();
            assertThat(f.submissions.pending()).isEqualTo(8);
            assertThat(f.ring.submit()).isEqualTo(8);
            assertThat(f.submissions.space()).isEqualTo(8);
            assertThat(f.submissions.nop(8)).isTrue();
            f.await(9);
            assertThat(f.completed).extracting(Completed::userData).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
        }
    }

    @Test
    void noCompletionIsLostWhenTheCompletionQueueOverflows() throws IOException {
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            assertThat(f.ring.capacity()).isEqualTo(16);
            for (int i = 0; i < 100; i++) {
                if (!f.submissions.nop(i)) {
                    f.ring.submit();
                    assertThat(f.submissions.nop(i)).isTrue();
                }
            }
            f.ring.submit();
            assertThat(f.submissions.hasOverflow()).isTrue();
            assertThat(f.ring.reap(f)).isEqualTo(100);
            assertThat(f.submissions.hasOverflow()).isFalse();
            assertThat(f.completed).extracting(Completed::userData).doesNotHaveDuplicates();
        }
    }

    @Test
    void anOperationInFlightIsCancelledByItsUserData() throws IOException {
        int counter = LinuxKernel.INSTANCE.eventfd();
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            f.submissions.read(0, counter, 0, f.memory.hostAddress(), 8, 1);
            f.ring.submit();
            assertThat(f.ring.reap(f)).as("nothing has been signalled yet").isZero();
            f.submissions.cancel(1, 2);
            f.await(2);
            assertThat(f.completed).containsExactlyInAnyOrder(new Completed(1, -Errno.ECANCELED), new Completed(2, 0));
            f.submissions.cancel(1, 3);
            f.await(3);
            assertThat(f.completed).endsWith(new Completed(3, -Errno.ENOENT));
        } finally {
            LinuxKernel.INSTANCE.close(counter);
        }
    }

    @Test
    void aSignalCompletesAReadOfTheCounterAndAPollOfIt() throws IOException {
        int counter = LinuxKernel.INSTANCE.eventfd();
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            f.submissions.poll(counter, 1, 1);
            f.ring.submit();
            assertThat(LinuxKernel.INSTANCE.eventfdSignal(counter)).isEqualTo(8);
            LinuxKernel.INSTANCE.eventfdSignal(counter);
            f.await(1);
            f.submissions.read(0, counter, 0, f.memory.hostAddress(), 8, 2);
            f.await(2);
            assertThat(f.completed).containsExactly(new Completed(1, 1), new Completed(2, 8));
            assertThat(f.memory.buffer(0, 8).getLong()).isEqualTo(2);
        } finally {
            LinuxKernel.INSTANCE.close(counter);
        }
    }

    @Test
    void aBoundedWaitEndsWithoutACompletion() throws IOException {
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            long begin = System.nanoTime();
            assertThat(f.ring.submitAndWait(20_000_000)).isZero();
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(20_000_000);
            assertThat(f.ring.submitAndWait(0)).isZero();
            f.submissions.nop(1);
            assertThat(f.ring.submitAndWait(60_000_000_000L)).isEqualTo(1);
            assertThat(f.ring.reap(f)).isEqualTo(1);
        }
    }

    @Test
    void aHandlerThatThrowsHasHadItsCompletion() throws IOException {
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            f.submissions.nop(1);
            f.submissions.nop(2);
            f.ring.submit();
            assertThatThrownBy(() -> f.ring.reap((userData, result, flags) -> {
                        throw new IllegalStateException();
                    }))
                    .isInstanceOf(IllegalStateException.class);
            f.ring.reap(f);
            assertThat(f.completed).containsExactly(new Completed(2, 0));
        }
    }

    @Test
    void aClosedRingThrowsInsteadOfTouchingItsMemory() throws IOException {
        RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL);
        f.close();
        f.ring.close();
        assertThatThrownBy(() -> f.submissions.nop(1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> f.ring.reap(f)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(f.ring::submit).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void aFullSubmissionQueueRefusesEveryKindOfOperation() throws IOException {
        try (RingFixture f = new RingFixture(directory, LinuxKernel.INSTANCE, SMALL)) {
            int fd = f.file.fd();
            long address = f.memory.hostAddress();
            assertThat(f.submissions.poll(fd, 1, 99)).isTrue();
            for (int i = 0; i < 7; i++) {
                assertThat(f.submissions.nop(i)).isTrue();
            }
            assertThat(f.submissions.read(0, fd, 0, address, 1, 9)).isFalse();
            assertThat(f.submissions.write(0, fd, 0, address, 1, 9)).isFalse();
            assertThat(f.submissions.readFixed(0, fd, 0, address, 1, 0, 9)).isFalse();
            assertThat(f.submissions.writeFixed(0, fd, 0, address, 1, 0, 9)).isFalse();
            assertThat(f.submissions.fsync(0, fd, true, 9)).isFalse();
            assertThat(f.submissions.cancel(1, 9)).isFalse();
            assertThat(f.submissions.poll(fd, 1, 9)).isFalse();
            assertThat(f.submissions.pending()).isEqualTo(8);
            f.await(8);
            assertThat(f.completed).extracting(Completed::userData).doesNotContain(9L);
        }
    }
}
