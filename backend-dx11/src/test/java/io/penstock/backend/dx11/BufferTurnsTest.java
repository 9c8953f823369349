// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BufferTurnsTest {

    private final BufferTurns turns = new BufferTurns();
    private final AtomicInteger rings = new AtomicInteger();

    @Test
    void severalOfOneKindHaveItAtATime() {
        assertThat(turns.tryTransfer(rings::incrementAndGet)).isTrue();
        assertThat(turns.tryTransfer(rings::incrementAndGet)).isTrue();
        assertThat(turns.tryCopy()).isFalse();
        turns.endTransfer();
        assertThat(turns.tryCopy()).isFalse();
        turns.endTransfer();
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryCopy()).isTrue();
    }

    @Test
    void whoWaitsForCopiesIsRungForWhenTheLastHasEnded() {
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryTransfer(rings::incrementAndGet)).isFalse();
        turns.endCopy();
        assertThat(rings).hasValue(0);
        turns.endCopy();
        assertThat(rings).hasValue(1);
        assertThat(turns.tryTransfer(rings::incrementAndGet)).isTrue();
    }

    @Test
    void copiesThatComeWhileATransferWaitsGoOneByOne() {
        assertThat(turns.tryCopy()).isTrue();
        assertThat(turns.tryTransfer(rings::incrementAndGet)).isFalse();
        assertThat(turns.tryCopy()).isFalse();
        turns.endCopy();
        assertThat(rings).hasValue(1);
    }

    @Test
    void aCopyThatWaitsKeepsTransfersFromBeginning() throws InterruptedException {
        assertThat(turns.tryTransfer(rings::incrementAndGet)).isTrue();
        CountDownLatch copied = new CountDownLatch(1);
        Thread executor = new Thread(() -> {
            turns.copy();
            copied.countDown();
        });
        executor.start();
        while (executor.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        assertThat(turns.tryTransfer(rings::incrementAndGet)).isFalse();
        assertThat(copied.getCount()).isEqualTo(1);
        turns.endTransfer();
        assertThat(copied.await(20, TimeUnit.SECONDS)).isTrue();
        turns.endCopy();
        assertThat(rings).hasValue(1);
        assertThat(turns.tryTransfer(rings::incrementAndGet)).isTrue();
    }
}
