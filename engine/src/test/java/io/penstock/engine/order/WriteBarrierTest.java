// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.order.WriteBarrier.Epoch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WriteBarrierTest {

    private final WriteBarrier barrier = new WriteBarrier();
    private final List<String> covered = new ArrayList<>();

    private void sync(String name) {
        barrier.sync(() -> covered.add(name));
    }

    @Test
    void aSyncWithNothingToCoverIsCoveredAtOnce() {
        sync("idle");
        assertThat(covered).containsExactly("idle");
        barrier.ended(barrier.accept());
        sync("idle again");
        assertThat(covered).containsExactly("idle", "idle again");
    }

    @Test
    void aSyncWaitsForEveryWriteAcceptedBeforeItAndForNoneAfter() {
        Epoch first = barrier.accept();
        Epoch second = barrier.accept();
        sync("s");
        Epoch later = barrier.accept();
        barrier.ended(second);
        assertThat(covered).as("one write is still open").isEmpty();
        barrier.ended(later);
        assertThat(covered).as("a later write does not count").isEmpty();
        barrier.ended(first);
        assertThat(covered).containsExactly("s");
    }

    @Test
    void aLaterSyncWaitsForWhatAnEarlierOneWaitsFor() {
        Epoch old = barrier.accept();
        sync("first");
        sync("second");
        Epoch young = barrier.accept();
        sync("third");
        barrier.ended(young);
        assertThat(covered).as("the old write is still open").isEmpty();
        barrier.ended(old);
        assertThat(covered).containsExactly("first", "second", "third");
    }

    @Test
    void aLaterWriteKeepsOnlyLaterSyncsWaiting() {
        Epoch old = barrier.accept();
        sync("first");
        Epoch young = barrier.accept();
        sync("second");
        barrier.ended(old);
        assertThat(covered).containsExactly("first");
        barrier.ended(young);
        assertThat(covered).containsExactly("first", "second");
        sync("idle");
        assertThat(covered).hasSize(3);
    }

    @Test
    void theFirstFailureOfASyncStays() {
        assertThat(barrier.failure()).isNull();
        IOException first = new IOException("EIO");
        assertThat(barrier.fail(first)).isSameAs(first);
        assertThat(barrier.fail(new IOException("another"))).isSameAs(first);
        assertThat(barrier.failure()).isSameAs(first);
    }
}
