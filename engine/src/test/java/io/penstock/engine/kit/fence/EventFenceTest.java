// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.test.StepVerifier;

class EventFenceTest {

    private final ScriptedEvent fence = new ScriptedEvent(true);
    private final AtomicInteger told = new AtomicInteger();

    private void waitFor(ScriptedEvent event) {
        event.signalled().subscribe(nothing -> {}, e -> {}, told::incrementAndGet);
    }

    @Test
    void itIsQueriedUntilItIsSignalledAndNotAgain() {
        assertThat(fence.isSignalled()).isFalse();
        assertThat(fence.isSignalled()).isFalse();
        fence.answer = 0;
        assertThat(fence.isSignalled()).isTrue();
        assertThat(fence.isSignalled()).isTrue();
        assertThat(fence.asks).isEqualTo(3);
    }

    @Test
    void itIsWatchedOnceForAllSubscribersAndTheyAreSignalled() {
        waitFor(fence);
        waitFor(fence);
        assertThat(fence.watches).isEqualTo(1);
        assertThat(fence.poll()).isFalse();
        assertThat(told).hasValue(0);

        fence.answer = 0;
        assertThat(fence.poll()).isTrue();
        assertThat(told).hasValue(2);
    }

    @Test
    void aSubscriberOfASignalledFenceIsSignalledAtOnceWithoutAPoll() {
        fence.answer = 0;
        waitFor(fence);
        assertThat(told).hasValue(1);
        assertThat(fence.watches).isZero();
    }

    @Test
    void aFenceThatWasQueriedAsSignalledIsSignalledByTheNextPoll() {
        waitFor(fence);
        fence.answer = 0;
        assertThat(fence.isSignalled()).isTrue();
        assertThat(told).as("on the thread of the watch").hasValue(0);
        assertThat(fence.poll()).isTrue();
        assertThat(told).hasValue(1);
        assertThat(fence.asks).as("once by each, and not again").isEqualTo(2);
    }

    @Test
    void anOwnedEventIsFreedAtOnceIfItIsSignalled() {
        fence.answer = 0;
        fence.close();
        fence.close();
        assertThat(fence.frees).isEqualTo(1);
        assertThat(fence.watches).isZero();
        assertThat(fence.whileHeld(() -> true)).isFalse();
        assertThat(fence.isSignalled()).isTrue();
        assertThat(fence.asks).as("by close()").isEqualTo(1);
    }

    @Test
    void anOwnedEventThatIsClosedEarlyExistsForLaterWaitsUntilItIsSignalled() {
        fence.close();
        fence.close();
        assertThat(fence.frees).isZero();
        assertThat(fence.watches).isEqualTo(1);
        waitFor(fence);
        assertThat(fence.watches).as("and goes on being watched").isEqualTo(1);

        fence.answer = 0;
        assertThat(fence.poll()).isTrue();
        assertThat(told).hasValue(1);
        assertThat(fence.frees).isEqualTo(1);
        waitFor(fence);
        assertThat(told).hasValue(2);
    }

    @Test
    void anOwnedEventThatIsAwaitedIsFreedWhenItIsSignalled() {
        waitFor(fence);
        fence.close();
        assertThat(fence.poll()).isFalse();
        assertThat(fence.isSignalled()).isFalse();
        assertThat(fence.whileHeld(() -> true)).isTrue();
        assertThat(fence.frees).isZero();

        fence.answer = 0;
        assertThat(fence.poll()).isTrue();
        fence.close();
        assertThat(fence.frees).isEqualTo(1);
        assertThat(told).hasValue(1);
    }

    @Test
    void anEventThatIsSignalledFirstIsFreedWhenItIsClosed() {
        waitFor(fence);
        fence.answer = 0;
        assertThat(fence.poll()).isTrue();
        assertThat(fence.frees).isZero();
        fence.close();
        assertThat(fence.frees).isEqualTo(1);
    }

    @Test
    void anImportedEventIsNeverFreedAndCanStillBeQueried() {
        ScriptedEvent imported = new ScriptedEvent(false);
        imported.close();
        waitFor(imported);
        assertThat(imported.watches).isEqualTo(1);
        imported.answer = 0;
        assertThat(imported.poll()).isTrue();
        assertThat(told).hasValue(1);
        assertThat(imported.frees).isZero();
    }

    @Test
    void aFailureSignalsTheFenceAndIsItsOutcome() {
        fence.answer = 7;
        StepVerifier.create(fence.signalled()).verifyComplete();
        StepVerifier.create(fence.outcome()).verifyErrorMessage("failed with 7");
    }

    @Test
    void successHasNoOutcomeOfItsOwn() {
        fence.answer = 0;
        StepVerifier.create(fence.outcome()).verifyComplete();
    }

    @Test
    void aWatchThatCannotStartIsTriedAgainByTheNextSubscriber() {
        ScriptedEvent scarce = new ScriptedEvent(true);
        scarce.refusal = new OutOfMemoryError("no thread");
        assertThatThrownBy(() -> waitFor(scarce)).isInstanceOf(OutOfMemoryError.class);
        scarce.refusal = null;
        waitFor(scarce);
        assertThat(scarce.watches).isEqualTo(1);
        scarce.answer = 0;
        assertThat(scarce.poll()).isTrue();
        assertThat(told).hasValue(1);
    }

    @Test
    void aCloseWhoseWatchCannotStartIsDoneAgainByTheNextOne() {
        ScriptedEvent scarce = new ScriptedEvent(true);
        scarce.refusal = new OutOfMemoryError("no thread");
        assertThatThrownBy(scarce::close).isInstanceOf(OutOfMemoryError.class);
        assertThat(scarce.frees).as("a transfer may still wait for it").isZero();
        assertThat(scarce.whileHeld(() -> true)).isTrue();
        scarce.answer = 0;
        scarce.close();
        scarce.close();
        assertThat(scarce.frees).isEqualTo(1);
    }

    @Test
    void aCloseWhoseWatchCannotStartIsDoneByTheWatchOfTheNextSubscriber() {
        ScriptedEvent scarce = new ScriptedEvent(true);
        scarce.refusal = new OutOfMemoryError("no thread");
        assertThatThrownBy(scarce::close).isInstanceOf(OutOfMemoryError.class);
        scarce.refusal = null;
        waitFor(scarce);
        scarce.answer = 0;
        assertThat(scarce.poll()).isTrue();
        scarce.close();
        assertThat(scarce.frees).isEqualTo(1);
    }

    /** An event whose device gives the test's answers. */
    private static final class ScriptedEvent extends EventFence {

        private int answer = PENDING;
        private int asks;
        private int watches;
        private int frees;
        private @Nullable OutOfMemoryError refusal;

        ScriptedEvent(boolean owned) {
            super(0x1000, owned);
        }

        @Override
        protected int query() {
            asks++;
            return answer;
        }

        @Override
        protected void watch() {
            if (refusal != null) {
                throw refusal;
            }
            watches++;
        }

        @Override
        protected void free() {
            frees++;
        }

        @Override
        protected RuntimeException failure(int code) {
            return new IllegalStateException("failed with " + code);
        }
    }
}
