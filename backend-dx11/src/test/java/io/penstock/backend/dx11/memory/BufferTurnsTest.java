// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BufferTurnsTest {

    private final BufferTurns turns = new BufferTurns();
    private final AtomicInteger rings = new AtomicInteger();
    private final Runnable waker = rings::incrementAndGet;

    @Test
    void severalOfOneKindHaveItAtATime() {
        assertThat(turns.tryTransfer(waker)).isTrue();
        assertThat(turns.tryTransfer(waker)).isTrue();
        assertThat(turns.tryCopy()).isFalse();
        turns.endTransfer();
        assertThat(turns.tryCopy()).isFalse();
        turns.endTransfer();
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryCopy()).isTrue();
    }

    @Test
    void aQueueThatWaitsForCopiesIsWokenWhenTheLastHasEnded() {
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryTransfer(waker)).isFalse();
        turns.endCopy();
        assertThat(rings).hasValue(0);
        turns.endCopy();
        assertThat(rings).hasValue(1);
        assertThat(turns.tryTransfer(waker)).isTrue();
    }

    @Test
    void copiesThatComeWhileATransferWaitsGoOneByOne() {
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryTransfer(waker)).isFalse();
        assertThat(turns.tryCopy()).isFalse();
        turns.endCopy();
        assertThat(rings).hasValue(1);
    }

    @Test
    void everyWaitingQueueIsWokenAndThoseThatDoNotRetryDelayNoOther() {
        AtomicInteger othersRings = new AtomicInteger();
        Runnable othersWaker = othersRings::incrementAndGet;
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryTransfer(waker)).isFalse();
        assertThat(turns.tryTransfer(othersWaker)).isFalse();
        assertThat(turns.tryTransfer(waker)).isFalse();
        turns.endCopy();
        assertThat(rings).hasValue(1);
        assertThat(othersRings).hasValue(1);
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryCopy()).as("no transfer waits any more").isTrue();
        assertThat(turns.tryTransfer(othersWaker)).isFalse();
        turns.endCopy();
        turns.endCopy();
        assertThat(rings).hasValue(1);
        assertThat(othersRings).hasValue(2);
    }

    @Test
    void aTransferThatStartsKeepsOtherWaitingQueues() {
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryTransfer(waker)).isFalse();
        AtomicInteger othersRings = new AtomicInteger();
        Runnable othersWaker = othersRings::incrementAndGet;
        assertThat(turns.tryTransfer(othersWaker)).isFalse();
        assertThat(turns.tryCopy()).as("while one waits").isFalse();
        turns.endCopy();
        assertThat(turns.tryTransfer(waker)).isTrue();
        assertThat(turns.tryTransfer(othersWaker)).as("beside the other").isTrue();
        turns.endTransfer();
        assertThat(turns.tryCopy()).isFalse();
        turns.endTransfer();
        assertThat(turns.tryCopy()).isTrue();
    }

    @Test
    void aCopyThatWaitsKeepsTransfersFromBeginning() throws InterruptedException {
        assertThat(turns.tryTransfer(waker)).isTrue();
        CountDownLatch copied = new CountDownLatch(1);
        Thread executor = new Thread(() -> {
            turns.copy();
            copied.countDown();
        });
        executor.start();
        while (executor.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        assertThat(turns.tryTransfer(waker)).isFalse();
        assertThat(copied.getCount()).isEqualTo(1);
        turns.endTransfer();
        assertThat(copied.await(20, TimeUnit.SECONDS)).isTrue();
        turns.endCopy();
        assertThat(rings).hasValue(1);
        assertThat(turns.tryTransfer(waker)).isTrue();
    }
}
