// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.TransientStorageException;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.kit.staging.ExecutorThread;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ExecutorPumpTest {

    private final Stage stage = new Stage(ThreadRule.PUMP, 1, 4, 1);
    private final ExecutorPump pump = Objects.requireNonNull(stage.pump);
    private final FakeFile file = new FakeFile(10 * Stage.STAGING, 1, 3);
    private final FakeDevice.Memory memory = new FakeDevice.Memory(10 * Stage.STAGING);

    @Test
    void hookIsCalledOnceWhenThereIsWorkAgain() {
        assertThat(pump.run(0)).isFalse();
        stage.read(0, file, 0, memory, 0, 100);
        stage.read(1, file, 0, memory, 100, 100);
        stage.turn();
        assertThat(stage.hooks).as("nothing is filled yet").isZero();
        stage.fill();
        assertThat(stage.hooks).isEqualTo(1);
    }

    @Test
    void hookIsNotCalledWhileCopiesRunSinceTheApplicationPumpsOn() {
        stage.device.held = true;
        stage.read(0, file, 0, memory, 0, 100);
        stage.turn();
        stage.fill();
        assertThat(pump.run(0)).as("a copy runs").isTrue();
        stage.read(1, file, 0, memory, 100, 100);
        stage.turn();
        stage.fill();
        assertThat(stage.hooks).isEqualTo(1);

        stage.device.held = false;
        while (pump.run(0)) {
            // the next frame
        }
        assertThat(pump.run(0)).isFalse();
        pump.execute(() -> {});
        assertThat(stage.hooks).as("rested, then roused").isEqualTo(2);
    }

    @Test
    void runWithoutBudgetMakesAtLeastOneCall() {
        stage.read(0, file, 0, memory, 0, 100);
        stage.turn();
        stage.fill();
        pump.run(0);
        assertThat(stage.device.started).isEqualTo(1);
    }

    @Test
    void ofCopiesThatEndInOrderOnlyTheOldestIsPolled() {
        stage.device.held = true;
        for (int id = 0; id < 4; id++) {
            stage.read(id, file, 0, memory, id * 100L, 100);
        }
        stage.turn();
        stage.fill();
        pump.run(0);
        assertThat(stage.device.polls).isEqualTo(stage.device.started).isGreaterThan(1);

        stage.device.inOrder = true;
        stage.device.polls = 0;
        pump.run(0);
        assertThat(stage.device.polls).isEqualTo(1);

        stage.device.held = false;
        stage.device.prompt = true;
        stage.device.polls = 0;
        pump.run(0);
        assertThat(stage.device.polls).isEqualTo(stage.device.started);
        for (int id = 0; id < stage.device.started; id++) {
            assertThat(stage.result(id)).isEqualTo(100);
        }
    }

    @Test
    void copiesArePolledForAsLongAsTheirQueueRequests() {
        assertThat(new ExecutorPump(() -> {}).spinNanos()).isZero();
        assertThat(pump.spinNanos()).isEqualTo(1000L * Stage.SPIN_MICROS);
    }

    @Test
    void deviceIsCalledInsideRunOnly() {
        boolean[] inside = new boolean[1];
        stage.device.permitted = () -> inside[0];
        for (int id = 0; id < 4; id++) {
            stage.read(id, file, 0, memory, id * 100L, 100);
        }
        while (stage.requests.ended() < 4) {
            stage.turn();
            stage.fill();
            inside[0] = true;
            pump.run(1_000_000);
            inside[0] = false;
        }
        stage.close();
    }

    @Test
    void tasksRunInOrderAndTheirExceptionsGoToTheHandler() {
        List<Object> seen = new ArrayList<>();
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler((t, e) -> seen.add(e.getMessage()));
        try {
            pump.execute(() -> seen.add(1));
            pump.execute(() -> {
                throw new IllegalStateException("oops");
            });
            pump.execute(() -> seen.add(2));
            assertThat(seen).isEmpty();
            pump.run(Long.MAX_VALUE);
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
        assertThat(seen).containsExactly(1, "oops", 2);
    }

    @Test
    void runInsideARunIsRefused() {
        List<Throwable> seen = new ArrayList<>();
        pump.execute(() -> {
            try {
                pump.run(0);
            } catch (IllegalStateException e) {
                seen.add(e);
            }
        });
        pump.run(0);
        assertThat(seen).hasSize(1);
    }

    @Test
    void aWatchedFenceIsPolledOncePerRunUntilItHasEnded() {
        int[] looks = new int[1];
        pump.run(0);
        pump.watch(() -> ++looks[0] == 3);
        assertThat(stage.hooks).as("roused").isEqualTo(1);
        assertThat(looks[0]).as("looked at outside a run").isZero();
        assertThat(pump.run(0)).as("it has not ended").isTrue();
        assertThat(looks[0]).isEqualTo(1);
        assertThat(pump.run(0)).isTrue();
        assertThat(pump.run(0)).as("it has ended").isFalse();
        assertThat(pump.run(0)).isFalse();
        assertThat(looks[0]).isEqualTo(3);
    }

    /** Both end between the look at the one and the look at the other. */
    @Test
    void aCopyDoesNotSeemToHaveEndedBeforeOneThatItMayHaveWaitedFor() {
        for (int id = 0; id < 2; id++) {
            stage.read(id, file, 0, memory, id * 100L, 100);
        }
        stage.turn();
        stage.fill();
        stage.device.endsAfterAPoll = true;
        while (stage.requests.ended() < 2) {
            pump.run(0);
            stage.turn();
        }
        assertThat(stage.requests.order()).containsExactly(0, 1);
        stage.close();
    }

    /** The fence is passed before the copy has ended, and so it is looked at once more before that is reported. */
    @Test
    void aCopyDoesNotSeemToHaveEndedBeforeAFenceThatItMayHaveWaitedFor() {
        List<Integer> before = new ArrayList<>();
        boolean[] passed = new boolean[1];
        pump.watch(() -> {
            stage.turn();
            before.addAll(stage.requests.order());
            passed[0] = stage.device.started == 1 && stage.device.running() == 0;
            return passed[0];
        });
        stage.read(0, file, 0, memory, 0, 100);
        stage.turn();
        stage.fill();
        while (!passed[0]) {
            pump.run(0);
        }
        assertThat(before).as("reported before the fence was").isEmpty();
        stage.turn();
        assertThat(stage.requests.order()).containsExactly(0);
        stage.close();
    }

    @Test
    void aFenceWhosePollThrowsIsNotPolledAgain() {
        List<Object> seen = new ArrayList<>();
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler((t, e) -> seen.add(e.getMessage()));
        try {
            pump.watch(() -> {
                throw new IllegalStateException("oops");
            });
            assertThat(pump.run(0)).isFalse();
            assertThat(pump.run(0)).isFalse();
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
        assertThat(seen).containsExactly("oops");
    }

    @Test
    void closedPumpRefusesTasks() {
        pump.close();
        assertThatThrownBy(() -> pump.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(pump.run(0)).isFalse();
    }

    @Test
    void aCallHasTheResultOrTheExceptionOfItsThread() {
        ExecutorThread executor = ExecutorThread.start("penstock-executor-test");
        Thread thread = executor.pump().call("a call", "", Thread::currentThread);
        assertThat(thread.getName()).isEqualTo("penstock-executor-test");
        assertThatThrownBy(() -> executor.pump().call("a call", "", () -> {
                    throw new IllegalArgumentException("oops");
                }))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("oops");
        assertThatThrownBy(() -> executor.pump().call("a call", "", () -> {
                    throw new AssertionError("worse");
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessage("worse");
        executor.close();
        assertThatThrownBy(() -> executor.pump().call("a call", "", () -> ""))
                .isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void anInterruptedCallerGivesUpACallThatHasNotBegun() {
        List<String> made = new ArrayList<>();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> pump.call("an allocation", "run the pump", () -> made.add("too late")))
                .isInstanceOf(TransientStorageException.class)
                .hasMessage(
                        "an allocation was not started when the caller was interrupted: the thread that may call the"
                                + " device did not come to it; run the pump");
        assertThat(Thread.interrupted()).isTrue();
        pump.run(0);
        assertThat(made).isEmpty();
    }

    @Test
    void anInterruptedCallerGetsTheResultOfACallThatHasBegun() {
        ExecutorThread executor = ExecutorThread.start("penstock-executor-test");
        Thread caller = Thread.currentThread();
        String result = executor.pump().call("a call", "", () -> {
            caller.interrupt();
            return "made";
        });
        assertThat(result).isEqualTo("made");
        assertThat(Thread.interrupted()).isTrue();
        assertThatThrownBy(() -> executor.pump().call("a call", "", () -> {
                    caller.interrupt();
                    throw new IllegalArgumentException("oops");
                }))
                .hasMessage("oops");
        assertThat(Thread.interrupted()).isTrue();
        executor.close();
    }

    @Test
    void executorThreadRunsWhatWasHandedInBeforeItWasClosed() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            ExecutorThread executor = ExecutorThread.start("penstock-executor-test");
            CountDownLatch ran = new CountDownLatch(2);
            executor.pump().execute(ran::countDown);
            executor.pump().execute(ran::countDown);
            executor.close();
            assertThat(ran.getCount()).isZero();
            assertThatThrownBy(() -> executor.pump().execute(ran::countDown))
                    .isInstanceOf(RejectedExecutionException.class);
        }
    }

    /** Behind the close, what the thread uses is freed. */
    @Test
    void anInterruptDoesNotShortenTheCloseOfItsThread() throws InterruptedException {
        ExecutorThread executor = ExecutorThread.start("penstock-executor-test");
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch closing = new CountDownLatch(1);
        AtomicBoolean done = new AtomicBoolean();
        executor.pump().execute(() -> {
            begun.countDown();
            try {
                done.set(closing.await(60, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        begun.await();
        Thread closer = Thread.currentThread();
        Thread other = new Thread(() -> {
            while (closer.getState() == Thread.State.RUNNABLE) {
                Thread.onSpinWait(); // until it waits, or has closed
            }
            closing.countDown();
        });
        closer.interrupt();
        other.start();
        executor.close();
        boolean wasDone = done.get();
        closing.countDown();
        assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
        other.join();
        assertThat(wasDone).isTrue();
    }

    @Test
    void noWaitIsAnnouncedWhileThereIsWork() {
        pump.execute(() -> {});
        assertThat(pump.announceWait()).isFalse();
        pump.run(0);
        assertThat(pump.announceWait()).isTrue();
    }
}
