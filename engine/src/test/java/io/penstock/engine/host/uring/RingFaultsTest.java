// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.RingAvailability;
import io.penstock.engine.host.kernel.RingAvailability.Reason;
import io.penstock.engine.host.kernel.ScriptedKernel;
import io.penstock.engine.host.uring.RingFixture.Completed;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RingFaultsTest {
    private static final RingOptions SMALL = new RingOptions(8, 16);

    private final ScriptedKernel kernel = new ScriptedKernel();

    @TempDir
    Path directory;

    @BeforeAll
    static void onAKernelWithRings() {
        RingFixture.assumeRing();
    }

    @Test
    void anEnterThatIsRefusedForNowLeavesItsOperationsPending() throws IOException {
        try (RingFixture f = new RingFixture(directory, kernel, SMALL)) {
            kernel.enterAnswers.addAll(List.of(-Errno.EINTR, -Errno.EAGAIN, -Errno.EBUSY));
            f.submissions.nop(1);
            for (int i = 0; i < 3; i++) {
                assertThat(f.ring.submit()).isZero();
                assertThat(f.submissions.pending()).isEqualTo(1);
            }
            assertThat(f.ring.submit()).isEqualTo(1);
            f.ring.reap(f);
            assertThat(f.completed).containsExactly(new Completed(1, 0));
        }
    }

    @Test
    void aPartialSubmitIsContinued() throws IOException {
        try (RingFixture f = new RingFixture(directory, kernel, SMALL)) {
            kernel.mostPerEnter = 3;
            for (int i = 0; i < 8; i++) {
                f.submissions.nop(i);
            }
            assertThat(f.ring.submit()).isEqualTo(3);
            assertThat(f.submissions.pending()).isEqualTo(5);
            f.await(8);
            assertThat(f.completed).extracting(Completed::userData).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
        }
    }

    @Test
    void aBrokenRingIsAnErrorThatNamesTheCall() throws IOException {
        try (RingFixture f = new RingFixture(directory, kernel, SMALL)) {
            kernel.enterAnswers.add(-Errno.EBADF);
            f.submissions.nop(1);
            assertThatThrownBy(f.ring::submit)
                    .isInstanceOf(ErrnoException.class)
                    .hasMessage("io_uring_enter -> EBADF (9)");
        }
    }

    @Test
    void nothingPendingMakesNoSystemCall() throws IOException {
        try (RingFixture f = new RingFixture(directory, kernel, SMALL)) {
            f.ring.submit();
            f.ring.reap(f);
            f.ring.submitAndWait(0);
            assertThat(kernel.enters).isZero();
        }
    }

    @Test
    void aKernelThatCannotBoundAnEnterIsPolled() throws IOException {
        kernel.featuresTaken = IoUring.IORING_FEAT_EXT_ARG;
        try (RingFixture f = new RingFixture(directory, kernel, SMALL)) {
            long begin = System.nanoTime();
            f.ring.submitAndWait(5_000_000);
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(5_000_000);
            assertThat(kernel.polls).isEqualTo(1);
            f.submissions.nop(1);
            assertThat(f.ring.submitAndWait(60_000_000_000L)).isEqualTo(1);
            assertThat(f.ring.reap(f)).isEqualTo(1);
        }
    }

    @Test
    void eachReasonForNoRingIsDistinguished() {
        assertThat(RingProbe.probe(kernel)).isEqualTo(RingAvailability.AVAILABLE);
        assertThat(reason(-Errno.EPERM, 2)).isEqualTo(Reason.FORBIDDEN_BY_SYSCTL);
        assertThat(reason(-Errno.EPERM, 1)).isEqualTo(Reason.FORBIDDEN_BY_SYSCTL);
        assertThat(reason(-Errno.EPERM, 0)).isEqualTo(Reason.FORBIDDEN_BY_SECCOMP);
        assertThat(reason(-Errno.EPERM, -1)).isEqualTo(Reason.FORBIDDEN_BY_SECCOMP);
        assertThat(reason(-Errno.ENOSYS, 0)).isEqualTo(Reason.NO_SYSTEM_CALL);
        assertThat(reason(-Errno.ENOMEM, 0)).isEqualTo(Reason.LOCKED_MEMORY_LIMIT);
        assertThat(reason(-Errno.EINVAL, 0)).isEqualTo(Reason.KERNEL_TOO_OLD);
        assertThat(reason(-Errno.EMFILE, 0)).isEqualTo(Reason.OPEN_FILES_LIMIT);
        assertThat(reason(-Errno.EIO, 0)).isEqualTo(Reason.OTHER);
        kernel.setupAnswer = 0;
        kernel.featuresTaken = IoUring.IORING_FEAT_NODROP;
        assertThat(RingProbe.probe(kernel).reason()).isEqualTo(Reason.KERNEL_TOO_OLD);
        kernel.featuresTaken = 0;
        kernel.registerAnswer = -Errno.EINVAL;
        assertThat(RingProbe.probe(kernel).reason()).isEqualTo(Reason.KERNEL_TOO_OLD);
        kernel.platform = new RingAvailability(Reason.NOT_LINUX, "plan 9");
        assertThat(RingProbe.probe(kernel)).isSameAs(kernel.platform);
        assertThat(kernel.closed).as("every ring made has been closed").isEqualTo(kernel.opened);
        assertThat(kernel.unmapped).isEqualTo(kernel.mapped);
    }

    /** A profile that has io_uring_setup alone: every transfer failed. */
    @Test
    void aKernelThatRefusesASingleCallIsFoundOut() {
        kernel.enterAnswers.add(-Errno.EPERM);
        RingAvailability entered = RingProbe.probe(kernel);
        assertThat(entered.reason()).isEqualTo(Reason.FORBIDDEN_BY_SECCOMP);
        assertThat(entered.detail()).isEqualTo("io_uring_enter -> EPERM (1)");
        kernel.registerAnswer = -Errno.EPERM;
        RingAvailability registered = RingProbe.probe(kernel);
        assertThat(registered.reason()).isEqualTo(Reason.FORBIDDEN_BY_SECCOMP);
        assertThat(registered.detail()).isEqualTo("io_uring_register -> EPERM (1)");
        assertThat(kernel.closed).isEqualTo(kernel.opened).isEqualTo(2);
        assertThat(kernel.unmapped).isEqualTo(kernel.mapped);
    }

    @Test
    void aRingThatCannotBeMappedLeavesNothingBehind() {
        kernel.mapAnswer = -Errno.ENOMEM;
        assertThat(RingProbe.probe(kernel).reason()).isEqualTo(Reason.LOCKED_MEMORY_LIMIT);
        assertThat(kernel.closed).isEqualTo(kernel.opened).isEqualTo(1);
        assertThat(kernel.unmapped).isEqualTo(kernel.mapped).isEqualTo(1);
    }

    private Reason reason(int setupAnswer, int disabled) {
        kernel.setupAnswer = setupAnswer;
        kernel.disabled = disabled;
        return RingProbe.probe(kernel).reason();
    }
}
