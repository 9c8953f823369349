// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import io.penstock.Evidence;
import io.penstock.FailedCompletion;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.FakeBuffer;
import io.penstock.engine.FakeFile;
import io.penstock.engine.FakePort;
import io.penstock.engine.spi.IoPath;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/** Completions as values. */
class FinishedTest {

    private static final IoPath PATH = (IoPath) Proxy.newProxyInstance(
            IoPath.class.getClassLoader(), new Class<?>[] {IoPath.class}, (self, method, arguments) -> {
                return switch (method.getName()) {
                    case "path" -> TransferPath.STAGED;
                    case "evidence" -> Evidence.OBSERVED;
                    case "reason" -> "no other way";
                    default -> throw new UnsupportedOperationException(method.getName());
                };
            });

    private final Transfer transfer = Transfer.read(new FakeFile(100).region(10, 50), new FakeBuffer(50, true).all());
    private final OpenTransfer open = new OpenTransfer(new FakePort(100), transfer) {
        @Override
        protected void ended() {}
    };

    FinishedTest() {
        open.admit(PATH, 3, null);
    }

    @Test
    void aCompletionReportsWhatTheTransferDid() {
        long before = System.nanoTime();
        open.started(before + 5);
        open.started(before + 6); // a later segment
        open.endedNanos = before + 9;
        open.moved = 50;
        open.settle(false);
        Completion done = open.completion();
        assertThat(done.transfer()).isSameAs(transfer);
        assertThat(done.bytes()).isEqualTo(50);
        assertThat(done.bytes(0)).isEqualTo(50);
        assertThat(done.path()).isEqualTo(TransferPath.STAGED);
        assertThat(done.evidence()).isEqualTo(Evidence.OBSERVED);
        assertThat(done.reason()).isEqualTo("no other way");
        assertThat(done.subscribedNanos() - before).isNotPositive();
        assertThat(done.subscribedNanos()).isEqualTo(open.subscribedNanos).isNotZero();
        assertThat(done.startedNanos()).isEqualTo(before + 5);
        assertThat(done.endedNanos()).isEqualTo(before + 9);
        assertThat(done).hasToString(transfer + ": 50 bytes, STAGED");
        assertThat(open.error()).isNull();
        assertThat(open.pathIndex).isEqualTo(3);
        assertThatThrownBy(open::failedCompletion).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aFailureHasItsErrorAsSuppressed() {
        IllegalStateException error = new IllegalStateException("gone");
        open.fail(error);
        open.fail(new IllegalStateException("a later one"));
        open.settle(false);
        FailedCompletion failed = open.failedCompletion();
        assertThat(failed.error()).isSameAs(error);
        assertThat(failed).hasToString(transfer + ": java.lang.IllegalStateException: gone");
        assertThat(failed.bytes()).isZero();
        assertThat(failed.bytes(0)).isZero();
    }

    @Test
    void aTransferThatFellShortFailsUnlessItWasCancelled() {
        open.moved = 20;
        open.shortfall().fellShort(0, 0, 50, 20);
        open.settle(true);
        assertThat(open.error()).isNull();
        assertThat(open.completion().bytes(0)).isEqualTo(20);
        open.settle(false);
        assertThat(open.error())
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("transferred no bytes");
    }
}
