// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SharedTest {

    /** A value; never equal to another. */
    private record Handle(String key, int number) {
        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return 0;
        }
    }

    private final List<String> log = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger opened = new AtomicInteger();
    private final Shared<String, Handle> shared = new Shared<>(handle -> log.add("close " + handle.number));

    private Handle open(String key) {
        return shared.open(key, () -> made(key));
    }

    private Handle made(String key) {
        Handle handle = new Handle(key, opened.incrementAndGet());
        log.add("open " + handle.number);
        return handle;
    }

    /** Starts a call on a thread of its own, and returns once it waits. */
    private static <T> FutureTask<T> blocked(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread thread = new Thread(task, "blocked");
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            assertThat(thread.isAlive()).as("it should block").isTrue();
            Thread.onSpinWait();
        }
        return task;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void usersOfOneKeyShareAValueThatIsClosedOnceAfterTheLast() {
        Handle handle = open("a");
        assertThat(open("a")).isSameAs(handle);
        shared.join(handle);
        Handle other = open("b");
        assertThat(other).isNotSameAs(handle);
        assertThat(shared.size()).isEqualTo(2);
        assertThat(shared.values()).containsExactlyInAnyOrder(handle, other);
        assertThat(shared.leave(handle)).isFalse();
        assertThat(shared.leave(handle)).isFalse();
        assertThat(log).as("one user is left").containsExactly("open 1", "open 2");
        assertThat(shared.leave(handle)).isTrue();
        assertThat(log).containsExactly("open 1", "open 2", "close 1");
        assertThat(shared.values()).containsExactly(other);
        assertThat(open("a")).as("after the last has left").isNotSameAs(handle);
        assertThat(shared.size()).isEqualTo(2);
    }

    @Test
    void aValueThatIsOpenCanBeFoundAndThenHasOneMoreUser() {
        assertThat(shared.find("a")).isNull();
        Handle handle = open("a");
        assertThat(shared.find("a")).isSameAs(handle);
        shared.leave(handle);
        assertThat(log).containsExactly("open 1");
        shared.leave(handle);
        assertThat(shared.find("a")).isNull();
        assertThat(shared.size()).isZero();
    }

    @Test
    void aValueWithoutUsersCannotBeJoinedOrLeft() {
        Handle handle = open("a");
        shared.leave(handle);
        Handle next = open("a");
        assertThatThrownBy(() -> shared.join(handle)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> shared.leave(handle)).isInstanceOf(IllegalStateException.class);
        assertThat(shared.leave(next))
                .as("the calls before have not counted for another value of the key")
                .isTrue();
        assertThat(log).containsExactly("open 1", "close 1", "open 2", "close 2");
    }

    @Test
    void aKeyWhoseOpenerFailsHasNoValue() {
        Shared.Opener<Handle, IOException> fails = () -> {
            throw new IOException("no device");
        };
        assertThatThrownBy(() -> shared.open("a", fails)).isInstanceOf(IOException.class);
        assertThat(shared.size()).isZero();
        assertThat(open("a").number).isEqualTo(1);
    }

    @Test
    void aThreadThatWaitsForAnOpenGetsItsValue() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch proceed = new CountDownLatch(1);
        FutureTask<Handle> first = blocked(() -> shared.open("a", () -> {
            begun.countDown();
            await(proceed);
            return made("a");
        }));
        await(begun);
        FutureTask<Handle> second = blocked(() -> open("a"));
        assertThat(shared.find("a")).as("not open yet").isNull();
        assertThat(open("b").number).as("of another key: nothing waits").isEqualTo(1);
        proceed.countDown();
        assertThat(second.get()).isSameAs(first.get());
        assertThat(shared.leave(first.get())).isFalse();
        assertThat(shared.leave(first.get())).isTrue();
    }

    @Test
    void aThreadThatWaitsForAnOpenThatFailsOpensItself() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch proceed = new CountDownLatch(1);
        FutureTask<Handle> first = blocked(() -> shared.open("a", () -> {
            begun.countDown();
            await(proceed);
            throw new IllegalStateException("no device");
        }));
        await(begun);
        FutureTask<Handle> second = blocked(() -> open("a"));
        proceed.countDown();
        assertThatThrownBy(first::get).hasRootCauseMessage("no device");
        assertThat(second.get().number).isEqualTo(1);
    }

    @Test
    void anOpenBesideTheLastLeaveWaitsForTheCloseAndOpensANewValue() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch proceed = new CountDownLatch(1);
        Shared<String, Handle> slow = new Shared<>(handle -> {
            begun.countDown();
            await(proceed);
            log.add("close " + handle.number);
        });
        Handle handle = slow.open("a", () -> made("a"));
        FutureTask<Boolean> leaving = blocked(() -> slow.leave(handle));
        await(begun);
        assertThatThrownBy(() -> slow.join(handle)).as("it is being closed").isInstanceOf(IllegalStateException.class);
        assertThat(slow.find("a")).isNull();
        assertThat(slow.size()).as("not closed yet").isEqualTo(1);
        FutureTask<Handle> opening = blocked(() -> slow.open("a", () -> made("a")));
        assertThat(log).containsExactly("open 1");
        proceed.countDown();
        assertThat(leaving.get()).isTrue();
        assertThat(opening.get()).isNotSameAs(handle);
        assertThat(log).containsExactly("open 1", "close 1", "open 2");
    }

    @Test
    void aCloserThatThrowsLeavesTheKeyFree() {
        Shared<String, Handle> broken = new Shared<>(handle -> {
            throw new IllegalStateException("the driver is gone");
        });
        Handle handle = broken.open("a", () -> made("a"));
        assertThatThrownBy(() -> broken.leave(handle)).hasMessage("the driver is gone");
        assertThat(broken.size()).isZero();
        assertThat(broken.open("a", () -> made("a"))).isNotSameAs(handle);
    }

    @Test
    void anOpenerThatOpensItsOwnKeyFailsInsteadOfWaitingForItself() {
        assertThatThrownBy(() -> shared.open("a", () -> open("a")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("its own opener");
        assertThat(shared.size()).isZero();
    }

    @Test
    void anInterruptDoesNotEndTheWaitAndIsKept() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch proceed = new CountDownLatch(1);
        FutureTask<Handle> first = blocked(() -> shared.open("a", () -> {
            begun.countDown();
            await(proceed);
            return made("a");
        }));
        await(begun);
        Thread[] waiting = new Thread[1];
        FutureTask<Boolean> second = blocked(() -> {
            waiting[0] = Thread.currentThread();
            open("a");
            return Thread.currentThread().isInterrupted();
        });
        waiting[0].interrupt();
        proceed.countDown();
        first.get();
        assertThat(second.get()).isTrue();
    }

    @Test
    void manyThreadsNeverHaveTwoValuesOfAKeyNorOneThatIsClosed() throws Exception {
        AtomicInteger live = new AtomicInteger();
        AtomicInteger worst = new AtomicInteger();
        Shared<String, int[]> counted = new Shared<>(value -> {
            value[0] = -1; // plain: the last to leave sees what all others wrote
            live.decrementAndGet();
        });
        List<FutureTask<Void>> tasks = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
            FutureTask<Void> task = new FutureTask<>(() -> {
                for (int i = 0; i < 20_000; i++) {
                    int[] value = counted.open("a", () -> {
                        worst.accumulateAndGet(live.incrementAndGet(), Math::max);
                        return new int[1];
                    });
                    if (i % 3 == 0) {
                        counted.join(value);
                        counted.leave(value);
                    }
                    assertThat(value[0]).isZero();
                    counted.leave(value);
                }
                return null;
            });
            tasks.add(task);
            new Thread(task).start();
        }
        for (FutureTask<Void> task : tasks) {
            task.get();
        }
        assertThat(worst.get()).isEqualTo(1);
        assertThat(live.get()).isZero();
        assertThat(counted.size()).isZero();
    }
}
