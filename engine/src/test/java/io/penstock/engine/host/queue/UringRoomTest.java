// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.ScriptedKernel;
import io.penstock.engine.host.queue.QueueFixture.Completed;
import io.penstock.engine.host.uring.RingFixture;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A submission queue of 16 places that cancels have filled, under a kernel that takes one operation at a time. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UringRoomTest {

    private static final int DEPTH = QueueFixture.DEPTH;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private QueueFixture f;

    @TempDir
    Path directory;

    @BeforeAll
    static void onAKernelWithRings() {
        RingFixture.assumeRing();
    }

    @BeforeEach
    void fill() throws IOException {
        kernel.mostPerEnter = 1;
        f = QueueFixture.uring(directory, kernel);
        for (int id = 0; id < DEPTH; id++) {
            f.read(id, 0, 0, 4096);
        }
        for (int id = 0; id < DEPTH; id++) {
            f.cancel(id);
        }
        assertThat(kernel.enters).isZero();
    }

    @AfterEach
    void close() {
        f.close();
        assertThat(kernel.opened).isEqualTo(kernel.closed);
    }

    /** Has the kernel take the request that is next, and end it. */
    private void endNext() {
        int before = f.completed.size();
        f.turn(0);
        kernel.mostPerEnter = 0;
        while (f.completed.size() == before) {
            f.turn(0);
        }
        kernel.mostPerEnter = 1;
    }

    /** Ends the first request and takes it anew, in the one place that is free then. */
    private void replaceTheFirst() {
        endNext();
        assertThat(f.completed).containsExactly(new Completed(0, 4096));
        f.read(0, 0, 0, 4096);
    }

    /** As above, then ends the second and fills its place with a cancel of the first. */
    private void freeTheSecondTag() {
        replaceTheFirst();
        endNext();
        assertThat(f.completed).endsWith(new Completed(1, 4096));
        f.cancel(0);
    }

    private void endAll(int requests) {
        kernel.mostPerEnter = Integer.MAX_VALUE;
        f.await(requests);
        f.turn(0);
        assertThat(f.completed).hasSize(requests);
    }

    private long cancels() {
        return kernel.submitted.stream()
                .filter(sqe -> sqe.opcode() == IoUring.IORING_OP_ASYNC_CANCEL)
                .count();
    }

    @Test
    void aRequestThatFindsNoPlaceMakesOne() {
        freeTheSecondTag();
        int enters = kernel.enters;
        f.read(1, 0, 0, 4096);
        assertThat(kernel.enters).isEqualTo(enters + 1);
        endAll(DEPTH + 2);
        assertThat(f.completed).extracting(Completed::result).containsOnly(4096L);
        assertThat(cancels()).isEqualTo(DEPTH + 1);
    }

    @Test
    void aRequestForWhichThereIsNoPlaceIsToBeTriedAgain() {
        freeTheSecondTag();
        kernel.enterAnswers.add(-Errno.EAGAIN);
        f.read(1, 0, 0, 4096);
        assertThat(f.completed).as("not before the next turn").hasSize(2);
        f.turn(0);
        assertThat(f.completed).contains(new Completed(1, -Errno.EAGAIN));
        assertThat(f.failures.get(1).kind()).isEqualTo(NativeFailure.Kind.RETRY);
        endAll(DEPTH + 2);
    }

    @Test
    void aRingThatBreaksWhileAPlaceIsMadeAnswersSo() {
        freeTheSecondTag();
        kernel.enterAnswers.add(-Errno.EBADF);
        kernel.enterAnswers.add(-Errno.EBADF); // and from then on
        f.read(1, 0, 0, 4096);
        f.turn(0);
        assertThat(f.completed).hasSize(DEPTH + 2).contains(new Completed(1, -Errno.EBADF));
        assertThat(f.completed.subList(2, DEPTH + 2))
                .extracting(Completed::result)
                .containsOnly((long) -Errno.EBADF);
    }

    @Test
    void aCancelThatFindsNoPlaceMakesOne() {
        replaceTheFirst();
        int enters = kernel.enters;
        f.cancel(0);
        assertThat(kernel.enters).isEqualTo(enters + 1);
        f.cancel(0);
        assertThat(kernel.enters).as("cancelled already").isEqualTo(enters + 1);
        endAll(DEPTH + 1);
        assertThat(cancels()).isEqualTo(DEPTH + 1);
    }

    @Test
    void aQueueThatIsAboutToWaitMakesAPlaceForTheReadThatWakesIt() {
        f.turn(1_000_000);
        kernel.mostPerEnter = Integer.MAX_VALUE;
        f.turn(0);
        assertThat(kernel.submitted).anyMatch(sqe -> sqe.length() == Long.BYTES);
        endAll(DEPTH);
        assertThat(cancels()).isEqualTo(DEPTH);
    }
}
